"""A gateway that prepares messages as the real one does and calls nobody: each provider would have accepted them."""

from collections.abc import Generator

from clarion.clock import Clock
from clarion.providers.definition.credentials import read_credentials
from clarion.providers.definition.kinds import HttpProvider, SmtpProvider
from clarion.providers.definition.outgoing import Outgoing
from clarion.providers.definition.result import SendFailure, Sent
from clarion.providers.definition.sizes import check_sizes
from clarion.providers.email.message import read_email
from clarion.providers.email.mime import write_mime
from clarion.providers.sending.gateway import get_sending_provider, redact_failure
from clarion.providers.sending.http_sender import AnyProvider, add_overrides
from clarion.providers.sending.large_content import MAX_LOOP_CHARACTERS
from clarion.providers.sending.redaction import make_redactor

SIMULATED = {"simulated": True}


class DryGateway:
    """Finds the faults that show before a provider is called: credentials, addresses, sizes, contents."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    async def send(self, provider_id: str, outgoing: Outgoing) -> Sent:
        """Prepare the message; raises SendFailure, without secrets in its text and values."""
        try:
            self._prepare(provider_id, outgoing)
        except SendFailure as error:
            failure = redact_failure(error, make_redactor(outgoing))
        else:
            return Sent(provider_message_id=outgoing.message_id, raw=SIMULATED)
        raise failure

    def _prepare(self, provider_id: str, outgoing: Outgoing) -> None:
        provider = get_sending_provider(provider_id)
        if len(outgoing.content) > MAX_LOOP_CHARACTERS:
            # This takes long, and a simulation has no thread to do it in.
            return
        if isinstance(provider, HttpProvider):
            self._prepare_requests(provider, outgoing)
        elif isinstance(provider, SmtpProvider):
            account = read_credentials(provider.credentials, outgoing.credentials)
            provider.account(account)
            write_mime(read_email(outgoing, account, self._clock.now()))

    def _prepare_requests(self, provider: AnyProvider, outgoing: Outgoing) -> None:
        account = read_credentials(provider.credentials, outgoing.credentials)
        message = provider.read_message(outgoing, account, self._clock.now())
        for part in provider.parts(message).values():
            request = provider.request(account, part)
            if isinstance(request, Generator):
                # It would ask the provider for something first.
                request.close()
                continue
            request = add_overrides(provider, request, outgoing.overrides)
            if provider.sizes is not None:
                check_sizes(provider.name, provider.sizes(request))
