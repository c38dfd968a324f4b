"""What a trigger would do: the real engine on a clock that jumps, in a transaction that is rolled back."""
