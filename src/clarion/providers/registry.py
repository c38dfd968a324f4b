"""All providers by id, one line each; the built-in ones under the names that the store keeps."""

from collections.abc import Mapping

from clarion.providers import builtin, catalogue
from clarion.providers.base import Provider
from clarion.providers.chat import discord, slack
from clarion.providers.email import emailjs, mailgun, nodemailer, sendgrid, ses
from clarion.providers.push import fcm
from clarion.providers.sms import generic_sms, kannel, nexmo, twilio

_ALL: tuple[Provider, ...] = (
    builtin.IN_APP,
    builtin.EMAIL,
    builtin.SMS,
    emailjs.PROVIDER,
    mailgun.PROVIDER,
    nodemailer.PROVIDER,
    sendgrid.PROVIDER,
    ses.PROVIDER,
    generic_sms.PROVIDER,
    kannel.PROVIDER,
    nexmo.PROVIDER,
    twilio.PROVIDER,
    fcm.PROVIDER,
    discord.PROVIDER,
    slack.PROVIDER,
    *catalogue.PENDING,
)

PROVIDERS: Mapping[str, Provider] = {one.id: one for one in _ALL}


def find_provider(provider_id: str) -> Provider | None:
    return PROVIDERS.get(provider_id)
