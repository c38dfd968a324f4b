"""What keeps messages from being handed to any provider: suppressed and missing addresses, or no integration."""

from clarion.clock import Millis
from clarion.integrations.model import Integration
from clarion.jobs.details import DetailCode
from clarion.providers.definition.result import FailureKind, SendFailure
from clarion.sending.model import ClaimedSend, NotSent, OutgoingMessage, SendOutcome
from clarion.sending.planning import explain_choice
from clarion.vocabulary import Channel, MessageStatus

_SUPPRESSED = {
    Channel.EMAIL: DetailCode.EMAIL_SUPPRESSED,
    Channel.SMS: DetailCode.PHONE_SUPPRESSED,
}
CLEAR = "DELETE /v1/suppressions/{channel}/{address} lets it be written to again"


def skip_suppressed(send: ClaimedSend, message: OutgoingMessage, now: Millis) -> NotSent:
    code, reason = _SUPPRESSED[message.channel], send.suppressed[message.id]
    raw = {"reason": reason, "channel": message.channel, "address": message.address, "wayOut": CLEAR}
    send.job.note(now, code, raw=raw)
    send.outcomes[message.id] = SendOutcome(
        status=MessageStatus.WARNING, provider_id=message.provider_id, error_id="suppressed", error_text=code.text
    )
    return NotSent()


def lacks_address(message: OutgoingMessage, integration: Integration) -> bool:
    """Whether it is for everyone's chat webhook, and the integration has none for those without their own."""
    is_open = message.provider_id == "chat-webhook" and message.webhook_url is None
    return is_open and not integration.credentials.get("webhookUrl")


def skip_unaddressed(send: ClaimedSend, message: OutgoingMessage, now: Millis) -> NotSent:
    code = DetailCode.WEBHOOK_MISSING
    send.job.note(now, code, raw={"providerId": message.provider_id})
    send.outcomes[message.id] = SendOutcome(
        status=MessageStatus.WARNING, provider_id=message.provider_id, error_text=code.text
    )
    return NotSent()


def skip_deleted_endpoint(send: ClaimedSend, message: OutgoingMessage, now: Millis) -> NotSent:
    code = DetailCode.ENDPOINT_DELETED
    send.job.note(now, code, raw={"providerId": message.provider_id})
    send.outcomes[message.id] = SendOutcome(
        status=MessageStatus.WARNING, provider_id=message.provider_id, error_text=code.text
    )
    return NotSent()


def fail_without_integration(send: ClaimedSend, message: OutgoingMessage, now: Millis) -> NotSent:
    code = DetailCode.INTEGRATION_MISSING
    raw = {"channel": message.channel, "providerId": message.provider_id, **explain_choice(send, message)}
    send.job.note(now, code, raw=raw)
    send.outcomes[message.id] = SendOutcome(
        status=MessageStatus.WARNING, provider_id=message.provider_id, error_text=code.text
    )
    return NotSent(SendFailure(FailureKind.PERMANENT, code.text))
