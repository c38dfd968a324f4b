"""Events that applications emit, and the steps of runs that wait for them."""
