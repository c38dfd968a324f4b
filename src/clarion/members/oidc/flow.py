"""Signing in with OpenID Connect: the authorization code flow with PKCE.

What belongs to one attempt is sealed in a cookie of the browser, so that any API process can finish it and nothing is
stored for attempts that are given up. The provider is named by the operator, so the egress guard does not apply.
"""

import base64
import hashlib
import hmac
import secrets
from typing import TYPE_CHECKING, Any
from urllib.parse import quote_plus, urlencode

import jwt
import msgspec
from msgspec import Struct

from clarion.clock import MINUTE, Clock, Millis
from clarion.errors import ClarionError
from clarion.jsontext import json_text
from clarion.members.model import MemberAddress, find_address
from clarion.members.oidc.discovery import ProviderDiscovery, ProviderMetadata, open_http
from clarion.members.oidc.problem import OidcProblem, OidcRefusal
from clarion.secret import Secret
from clarion.vault import Vault

if TYPE_CHECKING:
    from clarion.members.oidc.requests import OidcHttp

_SEAL_CONTEXT = b"oidc attempt"
_MAX_ATTEMPT = Millis(10 * MINUTE)
_LEEWAY_SECONDS = 60
# The second one is Microsoft's, which does not send the first: that the owner of the domain is verified.
_VERIFIED_CLAIMS = ("email_verified", "xms_edov")
# Signatures of the provider's own key pair: a shared secret or `none` would let others make tokens.
_ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]


class OidcProvider(Struct, frozen=True, kw_only=True):
    """The provider as the operator configured it."""

    issuer: str
    client_id: str
    client_secret: Secret | None
    redirect_url: str
    trusts_addresses: bool = False
    """Whether its addresses count as verified unless it says that they are not."""


class SignInAttempt(Struct, frozen=True):
    """What begins an attempt: where the browser goes, and the text for its cookie."""

    url: str
    cookie: str


class ProviderRedirect(Struct, frozen=True, kw_only=True):
    """What the provider adds to the address that it sends the browser back to."""

    state: str
    code: str
    issuer: str = ""
    """Empty if the provider does not name itself."""


class Identity(Struct, frozen=True):
    """Who the provider says the person is; it has verified the address."""

    email: MemberAddress
    name: str


class Finished(Struct, frozen=True):
    """An attempt that succeeded: who signed in, and the path that they wanted to see."""

    identity: Identity
    return_path: str


class _Tokens(Struct, frozen=True):
    id_token: str
    access_token: str | None = None


class _StoredAttempt(Struct, frozen=True):
    state: str
    nonce: str
    verifier: str
    began_at: int
    return_path: str


class OidcClient:
    """Begins and finishes attempts to sign in with one provider."""

    def __init__(self, provider: OidcProvider, vault: Vault, clock: Clock) -> None:
        self._provider = provider
        self._vault = vault
        self._clock = clock
        self._discovery = ProviderDiscovery(provider.issuer, clock)

    async def begin(self, return_path: str = "/") -> SignInAttempt:
        metadata = await self._discovery.get_metadata()
        state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
        stored = _StoredAttempt(state, nonce, verifier, self._clock.now(), return_path)
        query = {
            "response_type": "code",
            "client_id": self._provider.client_id,
            "redirect_uri": self._provider.redirect_url,
            "scope": "openid email profile",
            "state": stored.state,
            "nonce": stored.nonce,
            "code_challenge": _challenge(stored.verifier),
            "code_challenge_method": "S256",
        }
        mark = "&" if "?" in metadata.authorization_endpoint else "?"
        cookie = self._vault.seal(json_text(stored), context=_SEAL_CONTEXT)
        return SignInAttempt(f"{metadata.authorization_endpoint}{mark}{urlencode(query)}", cookie)

    async def finish(self, cookie: str, answer: ProviderRedirect) -> Finished:
        """Return who signed in; raises OidcProblem if the answer does not belong to the attempt, or is not valid."""
        stored = self._open(cookie)
        if not hmac.compare_digest(stored.state.encode(), answer.state.encode()):
            raise OidcProblem("The answer belongs to another attempt to sign in", OidcRefusal.BEGIN_AGAIN)
        metadata = await self._discovery.get_metadata()
        _require_issuer(metadata, answer.issuer)
        async with open_http() as http:
            tokens = await self._exchange(http, metadata, answer.code, stored.verifier)
            claims = await self._verify(metadata, tokens.id_token)
            if not hmac.compare_digest(str(claims["nonce"]).encode(), stored.nonce.encode()):
                raise OidcProblem("The ID token belongs to another attempt to sign in", OidcRefusal.BEGIN_AGAIN)
            if "email" not in claims:
                claims = await _add_user_info(http, metadata, tokens, claims)
        return Finished(_identity_of(claims, trusts_addresses=self._provider.trusts_addresses), stored.return_path)

    def _open(self, cookie: str) -> _StoredAttempt:
        try:
            stored = msgspec.json.decode(self._vault.open_foreign(cookie, context=_SEAL_CONTEXT), type=_StoredAttempt)
        except (ClarionError, msgspec.DecodeError, ValueError):
            raise OidcProblem("This attempt to sign in is not known", OidcRefusal.BEGIN_AGAIN) from None
        if self._clock.now() - stored.began_at > _MAX_ATTEMPT:
            raise OidcProblem("Signing in took too long", OidcRefusal.BEGIN_AGAIN)
        return stored

    async def _exchange(self, http: "OidcHttp", metadata: ProviderMetadata, code: str, verifier: str) -> _Tokens:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self._provider.redirect_url,
            "code_verifier": verifier,
            "client_id": self._provider.client_id,
        }
        headers: dict[str, str] = {}
        secret = self._provider.client_secret
        if secret is not None and "client_secret_post" in metadata.token_endpoint_auth_methods_supported:
            form["client_secret"] = secret.reveal()
        elif secret is not None:
            names = quote_plus(self._provider.client_id), quote_plus(secret.reveal())
            headers["Authorization"] = "Basic " + base64.b64encode(":".join(names).encode()).decode()
        answer = await http.fetch(metadata.token_endpoint, form=form, headers=headers)
        try:
            return msgspec.convert(answer, _Tokens)
        except msgspec.ValidationError:
            raise OidcProblem("The provider sent no ID token") from None

    async def _verify(self, metadata: ProviderMetadata, token: str) -> dict[str, Any]:
        try:
            header = jwt.get_unverified_header(token)
            key = await self._discovery.find_key(header.get("kid"))
            claims: dict[str, Any] = jwt.decode(
                token,
                key,
                algorithms=_ALGORITHMS,
                audience=self._provider.client_id,
                issuer=metadata.issuer,
                leeway=_LEEWAY_SECONDS,
                options={"require": ["exp", "iat", "iss", "aud", "sub", "nonce"]},
            )
        except jwt.PyJWTError as error:
            raise OidcProblem(f"The provider's ID token is not valid: {error}") from None
        _require_own(claims, self._provider.client_id)
        return claims


def _require_issuer(metadata: ProviderMetadata, issuer: str) -> None:
    """Refuse the answer of another provider (RFC 9207), which might want our code or give us its own."""
    if issuer != metadata.issuer and (issuer or metadata.authorization_response_iss_parameter_supported):
        message = f"The answer is that of '{issuer}', not of {metadata.issuer}"
        raise OidcProblem(message, OidcRefusal.BEGIN_AGAIN)


def _require_own(claims: dict[str, Any], client_id: str) -> None:
    """Refuse a token that was issued to another client, although it lists this one in its audience."""
    audience = claims["aud"]
    is_shared = isinstance(audience, list) and len(audience) > 1
    authorized = claims.get("azp")
    if authorized != client_id and (is_shared or authorized is not None):
        raise OidcProblem(f"The provider's ID token was issued to another client: azp is {authorized!r}")


def _challenge(verifier: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


async def _add_user_info(
    http: "OidcHttp", metadata: ProviderMetadata, tokens: _Tokens, claims: dict[str, Any]
) -> dict[str, Any]:
    """Ask for what the provider leaves out of ID tokens; the answer must be about the same person."""
    if metadata.userinfo_endpoint is None or tokens.access_token is None:
        return claims
    headers = {"Authorization": f"Bearer {tokens.access_token}"}
    user_info = await http.fetch(metadata.userinfo_endpoint, headers=headers)
    return user_info | claims if user_info.get("sub") == claims["sub"] else claims


def _identity_of(claims: dict[str, Any], *, trusts_addresses: bool) -> Identity:
    email = claims.get("email")
    if not isinstance(email, str) or not email:
        message = "The provider sent no e-mail address; allow the scope 'email' for Clarion there"
        raise OidcProblem(message, OidcRefusal.NO_ADDRESS)
    is_verified = _is_verified(claims)
    if is_verified is False:
        raise OidcProblem("The provider has not verified the e-mail address", OidcRefusal.NOT_VERIFIED)
    if is_verified is None and not trusts_addresses:
        message = (
            "The provider does not say whether it has verified the e-mail address; if people cannot choose their "
            "addresses there, set CLARION_OIDC_TRUST_ADDRESSES to the address of the provider"
        )
        raise OidcProblem(message, OidcRefusal.VERIFICATION_UNKNOWN)
    address = find_address(email)
    if address is None:
        message = f"The provider sent the e-mail address {email!r}, which a member cannot have"
        raise OidcProblem(message, OidcRefusal.NO_ADDRESS)
    name = claims.get("name")
    return Identity(address, name if isinstance(name, str) and name else address)


def _is_verified(claims: dict[str, Any]) -> bool | None:
    """Return whether the provider has verified the address; None if it does not say."""
    for name in _VERIFIED_CLAIMS:
        if claims.get(name) is not None:
            # Some providers send it as a text or a number.
            return str(claims[name]).lower() in ("true", "1")
    return None
