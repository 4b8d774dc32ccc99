//! Mail through an SMTP server. It carries links, never buttons: programs open
//! what is in a mail before people do.

use std::time::Duration;

use aye_core::secrets::Secrets;
use lettre::message::header::ContentType;
use lettre::message::{Mailbox, MessageBuilder};
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Tls, TlsParameters};
use lettre::{SmtpTransport, Transport as _};

use crate::http_client::resolve;
use crate::settings::{EmailChannel, Encryption};

use super::{Channel, Delivered, Delivery, DeliveryError, Message};

/// How long one command to the server may take.
const PATIENCE: Duration = Duration::from_secs(10);

pub(super) fn deliver(
    channel: &Channel,
    mail: &EmailChannel,
    delivery: &Delivery,
    secrets: &mut Secrets,
) -> Result<Delivered, DeliveryError> {
    let Delivery::Send(message) = delivery else { return Ok(Delivered::default()) };
    let failed = |why: String| DeliveryError::new(why);
    let letter = letter(mail, message)?;
    let user = channel.read_optional("user", mail.user.as_ref())?;
    let password = channel.read_optional("password", mail.password.as_ref())?;
    let tls = || {
        TlsParameters::builder(mail.host.clone())
            .build_rustls()
            .map_err(|error| failed(error.to_string()))
    };
    let tls = match mail.encryption {
        Encryption::StartTls => Tls::Required(tls()?),
        Encryption::Tls => Tls::Wrapper(tls()?),
        Encryption::None => Tls::None,
    };
    let addresses = resolve(&mail.host)
        .map_err(|error| failed(format!("cannot find `{}`: {error}", mail.host)))?;
    let credentials = password.map(|password| {
        secrets.insert("password", password.clone());
        Credentials::new(user.unwrap_or_default(), password)
    });
    let mut first = None;
    for address in addresses {
        // By its address: the name is what the certificate has to be for.
        let mut transport = SmtpTransport::builder_dangerous(address.to_string())
            .port(mail.port)
            .tls(tls.clone())
            .timeout(Some(PATIENCE));
        if let Some(credentials) = &credentials {
            transport = transport.credentials(credentials.clone());
        }
        match transport.build().send(&letter) {
            Ok(_) => return Ok(Delivered::default()),
            Err(error) => {
                let mut why = error.to_string();
                let mut source = std::error::Error::source(&error);
                while let Some(inner) = source {
                    why = format!("{why}: {inner}");
                    source = inner.source();
                }
                // A server that answered is not asked again elsewhere.
                if error.is_permanent() || error.is_transient() || error.is_tls() {
                    return Err(failed(why));
                }
                first.get_or_insert(failed(why));
            }
        }
    }
    Err(first.unwrap_or_else(|| failed(format!("`{}` has no address", mail.host))))
}

fn letter(mail: &EmailChannel, message: &Message) -> Result<lettre::Message, DeliveryError> {
    let mailbox = |text: &str| {
        text.parse::<Mailbox>()
            .map_err(|error| DeliveryError::new(format!("`{text}` is not a mail address: {error}")))
    };
    let domain = mail.from.rsplit('@').next().unwrap_or("aye").trim_end_matches('>');
    // The same if it is sent twice, so that mail programs show one.
    let id = format!("<aye-{}-{}@{domain}>", message.run, message.id);
    let mut builder: MessageBuilder = lettre::Message::builder()
        .from(mailbox(&mail.from)?)
        .subject(&message.title)
        .message_id(Some(id));
    for to in &mail.to {
        builder = builder.to(mailbox(to)?);
    }
    let link = message.link.as_ref().map(|link| format!("\n\n{link}")).unwrap_or_default();
    builder
        .header(ContentType::TEXT_PLAIN)
        .body(format!("{}{link}\n", message.text))
        .map_err(|error| DeliveryError::new(error.to_string()))
}
