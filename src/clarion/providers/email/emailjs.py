"""EmailJS: a legacy id for plain SMTP, unrelated to the hosted service of that name."""

from msgspec.structs import replace

from clarion.providers.email import nodemailer

PROVIDER = replace(
    nodemailer.PROVIDER,
    credentials=nodemailer.SmtpCredentials,
    account=nodemailer.account,
    find_problems=None,
    id="emailjs",
    name="EmailJS",
    note="Plain SMTP, the same as `nodemailer`; not the hosted service.",
)
