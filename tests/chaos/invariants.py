"""Rules that hold in a store without pending work; `clarion.doctor` has them."""

from clarion.doctor.invariants import find_broken

__all__ = ["find_broken"]
