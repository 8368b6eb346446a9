// enrol-kit: what one device needs to enrol, by each protocol of a CA: address, anchor, one-time secret and commands, as one text that is shown once.
import { isIP } from 'node:net';
import { X509Certificate } from 'node:crypto';
import { Option } from 'commander';
import { encodeQR } from 'qr';
import { escapeNameValue } from '../../../core/der/name-text.ts';
import { acmeCommands, cmpCommands, enrolCommands, scepCommands, trustFiles, type EnrolCommand } from '../../../core/enrolment/commands.ts';
import { Client, Refused } from '../client.ts';
import { connectionOptions, type ConnectionOptions } from '../connection-options.ts';
import { resolveConnection } from '../connection.ts';
import { commandFor } from '../terminal/command-output.ts';
import { usageError } from '../terminal/failure.ts';
import { beginFile } from '../terminal/files.ts';
import type { Io } from '../terminal/io.ts';

type Options = ConnectionOptions & {
  readonly at: string;
  readonly subject?: string;
  readonly ttl?: string;
  readonly out: string;
  readonly qr: boolean;
};

/** The part of a CA's state that a kit has; names as on the wire. */
type Authority = {
  readonly chain?: string;
  readonly 'cert-key-type'?: string;
  readonly est: {
    readonly enabled?: boolean;
    readonly 'https-url'?: readonly string[];
    readonly 'initial-enroll-secret-set'?: boolean;
    readonly 'initial-enroll-trust-ca'?: string;
  };
  readonly cmp?: { readonly enabled?: boolean; readonly url?: readonly string[] };
  readonly acme?: { readonly enabled?: boolean; readonly 'directory-url'?: readonly string[] };
  readonly scep: { readonly enabled?: boolean; readonly url?: readonly string[]; readonly 'allow-old'?: readonly string[] };
};

/** A device, and what its CA made for it. */
type Kit = {
  readonly device: string;
  readonly subject: string;
  /** its alternative name, if it is one of the network */
  readonly name: string | undefined;
  readonly authority: Authority;
  /** PEM of the CA that TLS connections to the appliance are verified with */
  readonly anchor: string;
  readonly secret: { readonly id: string; readonly secret: string; readonly until: string } | undefined;
  /** for an account of ACME that gets its name alone */
  readonly accountKey: { readonly id: string; readonly key: string; readonly until: string } | undefined;
};

/** Long because it states every option. */
export async function runEnrolKit(words: readonly string[], before: ConnectionOptions, io: Io): Promise<void> {
  const command = commandFor(io, 'keystorectl enrol-kit')
    .description(
      'What one device needs to enrol: the address by each protocol that the CA has on, the certificates to trust, a one-time secret for SCEP and CMP, ' +
        'a key for an account of ACME, and commands. Secret and key are made now, recorded, and shown this once.',
    )
    .argument('<device>', 'its host name, which becomes CN and alternative name; or any name, which becomes CN')
    .addOption(new Option('--at <CA>', 'the CA at which it enrols').makeOptionMandatory())
    .option('--subject <NAME>', 'subject, instead of CN=DEVICE')
    .option('--ttl <TIME>', 'how long the secret can be used (default: 7d)')
    .option('--out <FILE>', 'file to write, readable by its owner alone', '-')
    .option('--no-qr', 'leave the QR codes out')
    .helpOption('-h, --help', 'show this');
  for (const option of connectionOptions()) command.addOption(option);
  command.action(async (device: string, options: Options) => {
    const client = new Client(await resolveConnection({ ...before, ...options }, io));
    // First, because nobody would see a secret that cannot be written.
    const target = beginFile(options.out, io, true);
    try {
      const kit = await makeKit(client, device, options);
      await target.write(Buffer.from(`${formatKit(kit, client, options.qr)}\n`));
    } catch (error) {
      target.abandon();
      throw error;
    }
    target.finish();
  });
  await command.parseAsync([...words], { from: 'user' });
}

async function makeKit(client: Client, device: string, options: Options): Promise<Kit> {
  const path = `/v1/state/keystore/tls/ca/${encodeURIComponent(options.at)}`;
  const authority = (await client.json({ method: 'GET', path })) as Authority;
  const on = protocols.filter(({ isEnabled }) => isEnabled(authority));
  if (on.length === 0) throw usageError(`no device can enrol at ${options.at}: set est/enabled, scep/enabled, cmp/enabled or acme/enabled`);
  if (!on.some(({ urlsOf }) => urlsOf(authority).length > 0)) throw usageError(`no device can enrol at ${options.at}: ${noListener}`);
  const isOn = (wanted: string): boolean => on.some(({ title, urlsOf }) => title === wanted && urlsOf(authority).length > 0);
  const isAddress = isIP(device) !== 0;
  const isHost = isAddress || /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/i.test(device);
  const { subject = `CN=${escapeNameValue(device)}` } = options;
  const name = isHost ? device : undefined;
  const ttl = options.ttl === undefined ? {} : { ttl: options.ttl };
  const make = (action: string, body: object): Promise<unknown> => client.json({ method: 'POST', path: `${path}/${action}`, body });
  const names = name === undefined ? {} : { names: [name] };
  const secret =
    isOn('SCEP') || isOn('CMP')
      ? ((await make('make-enrolment-secret', { subject, ...names, ...ttl, ...(isOn('CMP') ? { 'for-cmp': true } : {}) })) as Kit['secret'])
      : undefined;
  const accountKey =
    isOn('ACME') && name !== undefined ? ((await make('make-eab-key', { ...names, ...ttl })) as Kit['accountKey']) : undefined;
  return { device, subject, name, authority, anchor: await anchorOf(client), secret, accountKey };
}

/** The CA of the listeners; or what we trust ourselves, where their certificate is from elsewhere. */
async function anchorOf(client: Client): Promise<string> {
  try {
    return (await client.exchange({ method: 'GET', path: '/v1/ca/system/appliance/ca.pem' })).body.toString();
  } catch (error) {
    if (!(error instanceof Refused) || client.connection.ca === undefined) throw error;
    return client.connection.ca;
  }
}

function formatKit(kit: Kit, client: Client, hasQr: boolean): string {
  const { device, authority, anchor, secret, accountKey } = kit;
  const until = secret?.until ?? accountKey?.until;
  const { chain = '' } = authority;
  return [
    `# Enrolment of ${device}`,
    ...(until === undefined
      ? []
      : ['', `The secret is for this device alone, for one use, until ${until}. Delete this text after the use.`]),
    ...section(`Trust: the appliance (${trustFiles.appliance})`, [fingerprintOf(anchor), anchor.trim()]),
    ...section(`Trust: the CA and its issuers (${trustFiles.issuer})`, [fingerprintOf(chain), chain.trim()]),
    ...protocols.flatMap(({ title, isEnabled, urlsOf, lines }) => {
      if (!isEnabled(authority)) return [];
      const urls = urlsOf(authority);
      return section(title, urls.length === 0 ? [`It is on, but ${noListener}.`] : lines(kit, chosenUrl(urls, client), hasQr));
    }),
  ].join('\n');
}

const noListener = 'the appliance has no listener for it: set enrolment/listen in its configuration, and start it again';

/** A row for each protocol. `urlsOf`: none without a listener. */
type Protocol = {
  readonly title: string;
  readonly isEnabled: (authority: Authority) => boolean;
  readonly urlsOf: (authority: Authority) => readonly string[];
  readonly lines: (kit: Kit, url: string, hasQr: boolean) => readonly string[];
};

const protocols: readonly Protocol[] = [
  {
    title: 'EST',
    isEnabled: ({ est }) => est.enabled === true,
    urlsOf: ({ est }) => (est['https-url'] ?? []).filter((url) => !url.includes('~')),
    lines: ({ device, name, authority }, url, hasQr) => {
      const { 'initial-enroll-secret-set': hasSecret, 'initial-enroll-trust-ca': trusted } = authority.est;
      if (hasSecret !== true && trusted === undefined)
        return [`URL     ${url}`, 'Nobody can enrol for the first time: set est/initial-enroll-secret, or est/initial-enroll-trust-ca.'];
      return [
        `URL     ${url}`,
        hasSecret === true
          ? `Secret  the shared one of the CA, which is not shown here: ${asking('EST_SECRET')}`
          : `Secret  none: the device shows a certificate of the CA ${trusted}, in birth.pem, with its key in birth.key`,
        ...qrOf(url, hasQr),
        ...commandLines(
          name === undefined
            ? []
            : enrolCommands({ url, device, keyType: authority['cert-key-type'], showsCertificate: hasSecret !== true }),
        ),
      ];
    },
  },
  {
    title: 'SCEP',
    isEnabled: ({ scep }) => scep.enabled === true,
    urlsOf: ({ scep }) => scep.url ?? [],
    lines: ({ subject, name, secret, authority }, url, hasQr) => [
      `URL     ${url}`,
      `Secret  ${secret?.secret ?? ''}`,
      `Subject ${subject}`,
      `For the commands: ${asking('SCEP_SECRET')}`,
      ...qrOf(`${url}\n${secret?.secret ?? ''}`, hasQr),
      ...commandLines(
        scepCommands({ url, plainUrl: plainOf(authority.scep.url, url), subject, name, allowOld: authority.scep['allow-old'] ?? [] }),
      ),
    ],
  },
  {
    title: 'CMP',
    isEnabled: ({ cmp }) => cmp?.enabled === true,
    urlsOf: ({ cmp }) => cmp?.url ?? [],
    lines: ({ subject, name, secret }, url, hasQr) => [
      `URL       ${url}`,
      `Reference ${secret?.id ?? ''}`,
      `Secret    ${secret?.secret ?? ''}`,
      `Subject   ${subject}`,
      `For the commands: ${asking('CMP_SECRET')}`,
      ...qrOf(`${url}\n${secret?.id ?? ''}\n${secret?.secret ?? ''}`, hasQr),
      ...commandLines(cmpCommands({ url, subject, name, reference: secret?.id ?? '' })),
    ],
  },
  {
    title: 'ACME',
    isEnabled: ({ acme }) => acme?.enabled === true,
    urlsOf: ({ acme }) => acme?.['directory-url'] ?? [],
    lines: ({ name, accountKey }, url, hasQr) => [
      `URL     ${url}`,
      ...(name === undefined || accountKey === undefined
        ? ['ACME is for host names and addresses, of which this device has none.']
        : [
            `Key id  ${accountKey.id}`,
            `Key     ${accountKey.key}`,
            `Name    ${name}`,
            `For the commands: ${asking('EAB_KEY')}`,
            ...qrOf(`${url}\n${accountKey.id}\n${accountKey.key}`, hasQr),
            ...commandLines(acmeCommands({ url, name, keyId: accountKey.id })),
          ]),
    ],
  },
];

/** A command that takes a secret from the keyboard, for those that read it from a variable. */
const asking = (variable: string): string => `read -rs ${variable} && export ${variable}`;

const section = (title: string, lines: readonly string[]): readonly string[] => ['', `## ${title}`, '', ...lines];

const commandLines = (commands: readonly EnrolCommand[]): readonly string[] =>
  commands.flatMap(({ title, note, text }) => ['', `# ${title}: ${note}`, text]);

/** For a camera: the code as text, whose blocks are its light squares, as a dark terminal shows them. */
const qrOf = (text: string, hasQr: boolean): readonly string[] => (hasQr ? ['', encodeQR(text, 'ascii').trimEnd()] : []);

/** The one by the host through which we reach the appliance; otherwise the first. */
function chosenUrl(urls: readonly string[], client: Client): string {
  const [reached = ''] = client.addresses;
  return firstAt(reached, urls) ?? '';
}

/** The URL without TLS of the same host; undefined without a listener for it. */
function plainOf(urls: readonly string[] = [], chosen: string): string | undefined {
  return firstAt(
    chosen,
    urls.filter((url) => url.startsWith('http:')),
  );
}

/** The first URL of the host of `address`; otherwise the first. */
function firstAt(address: string, urls: readonly string[]): string | undefined {
  return urls.find((url) => new URL(url).hostname === new URL(address).hostname) ?? urls[0];
}

function fingerprintOf(pem: string): string {
  return `SHA-256 ${new X509Certificate(pem).fingerprint256}`;
}
