// The section `notices`: where messages go that tell what needs a person.
import { z } from 'zod';
import { hostFault, plainText, serverUrl } from './other-servers.ts';
import { secretSource } from './secret-source.ts';

/** An address as SMTP has it in its envelope: without a name, and in ASCII. */
const mailAddress = z
  .string()
  .max(254)
  .regex(/^[\w.!#$%&'*+/=?^`{|}~-]{1,64}@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*$/, 'must be an address such as operators@example.org');

const caFile = z
  .string()
  .min(1)
  .exactOptional()
  .describe('PEM file of the CA certificates that alone may have issued the certificate of the server; default: those of the system');

const server = z.string().transform((text, context): { readonly host: string; readonly port: number } => {
  const [, six, other = '', port = ''] = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]/]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = six ?? other;
  const fault = Number(port) >= 1 && Number(port) <= 65_535 ? hostFault(host) : 'must be HOST:PORT, for example mail.example:587';
  if (fault === undefined) return { host, port: Number(port) };
  context.addIssue({ code: 'custom', message: fault });
  return z.NEVER;
});

const mail = z
  .strictObject({
    server: server.describe('host and port of the mail server that takes messages (submission)'),
    tls: z
      .enum(['starttls', 'implicit'])
      .default('starttls')
      .describe(
        'starttls: the connection becomes TLS before anything is sent, usually at port 587; implicit: it begins as TLS, at port 465',
      ),
    caFile,
    from: mailAddress.describe('address that the messages are from'),
    to: z.array(mailAddress).min(1).max(16).describe('addresses that receive them'),
    user: plainText(256).exactOptional().describe('user at the mail server'),
    password: secretSource('the password').exactOptional().describe('password of the user; read for each message'),
  })
  .refine(({ user, password }) => (user === undefined) === (password === undefined), 'must have user and password together');

const webhook = z.strictObject({
  url: serverUrl(['https'], 'a secret').describe('URL that receives each message as JSON by POST'),
  caFile,
  secret: secretSource('the secret')
    .exactOptional()
    .describe('each message is signed with it: HMAC-SHA256 in the header keystored-signature; read for each message'),
});

/** The section of the configuration. */
export const noticesSection = z
  .strictObject({
    mail: mail.exactOptional().describe('messages by mail (SMTP)'),
    webhook: webhook.exactOptional().describe('messages to a program'),
  })
  .describe('where messages go that tell what needs a person, once each, and when it is over; absent: nowhere')
  .prefault({});

export type NoticesConfig = z.output<typeof noticesSection>;
export type MailConfig = NonNullable<NoticesConfig['mail']>;
export type WebhookConfig = NonNullable<NoticesConfig['webhook']>;
