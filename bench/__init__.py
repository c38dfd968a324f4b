"""The benchmarks of `make bench`."""
