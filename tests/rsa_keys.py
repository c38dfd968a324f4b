"""RSA keys for tests; each process makes one of a size, since that takes long."""

from functools import cache

from cryptography.hazmat.primitives.asymmetric import rsa


@cache
def rsa_key(bits: int) -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65_537, key_size=bits)
