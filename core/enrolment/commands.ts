// Commands that enrol a device, ready to run, by EST, SCEP, CMP and ACME, for the clients that people have. Each was run against the service. For the console
// and keystorectl.
import { quote } from '../base/texts/quote.ts';

export type Enrolment = {
  /** base URL with two labels, `https://keys.example:4665/.well-known/est/<tenant>/<ca>` */
  readonly url: string;
  /** a DNS name */
  readonly device: string;
  /** of the CA: `ecdsa`, `rsa`, `ml-dsa-44` */
  readonly keyType: string | undefined;
  /** the device has no secret, and shows a certificate that the CA trusts: `birth.pem`, with its key in `birth.key` */
  readonly showsCertificate?: boolean;
};

/** An enrolment by SCEP: the URL of the CA, and the subject of the device as in `CN=pump-7.plant.example`. */
export type ScepEnrolment = {
  readonly url: string;
  /** URL without TLS, if there is one, for clients that have none */
  readonly plainUrl?: string | undefined;
  readonly subject: string;
  /** alternative name; undefined: none */
  readonly name: string | undefined;
  /** old algorithms that the CA takes */
  readonly allowOld: readonly string[];
};

/** An enrolment by CMP: the URL of the CA, the subject of the device, and the reference of its secret. */
export type CmpEnrolment = Pick<ScepEnrolment, 'url' | 'subject' | 'name'> & { readonly reference: string };

/** An enrolment by ACME: the URL of the directory, a host name, and the id of a key for accounts. */
export type AcmeEnrolment = { readonly url: string; readonly name: string; readonly keyId: string };

export type EnrolCommand = { readonly title: string; readonly note: string; readonly text: string };

/** Names of the files that the page offers: who the TLS connection is to, and who issues. */
export const trustFiles = { appliance: 'ca.pem', issuer: 'issuer.pem' } as const;

/** Commands for an enrolment. All of them read the secret from EST_SECRET, so that it is in no history and on no screen. */
export function enrolCommands(enrolment: Enrolment): readonly EnrolCommand[] {
  return commands
    .filter(({ fits }) => fits(enrolment))
    .map(({ title, note, lines }) => ({ title, note, text: lines(enrolment).join('\n') }));
}

/** Commands for an enrolment by SCEP. All of them read the secret from SCEP_SECRET. The trusted certificate is that of the CA, in `issuer.pem`. */
export function scepCommands(enrolment: ScepEnrolment): readonly EnrolCommand[] {
  return scepRows
    .filter(({ fits }) => fits(enrolment))
    .map(({ title, note, lines }) => ({ title, note, text: lines(enrolment).join('\n') }));
}

/** Commands for an enrolment by CMP. All of them read the secret from CMP_SECRET. The trusted certificate is that of the CA, in `issuer.pem`. */
export function cmpCommands(enrolment: CmpEnrolment): readonly EnrolCommand[] {
  return cmpRows
    .filter(({ fits }) => fits(enrolment))
    .map(({ title, note, lines }) => ({ title, note, text: lines(enrolment).join('\n') }));
}

/** Commands for an enrolment by ACME with a key for accounts, which all of them read from EAB_KEY. The appliance is trusted by `ca.pem`. */
export function acmeCommands(enrolment: AcmeEnrolment): readonly EnrolCommand[] {
  return acmeRows.map(({ title, note, lines }) => ({ title, note, text: lines(enrolment).join('\n') }));
}

/** `https://keys.example:4665/.well-known/est/<tenant>/<ca>` in its parts. The label is for clients that take one only. */
export function partsOf(url: string): { readonly origin: string; readonly host: string; readonly port: string; readonly label: string } {
  const { origin, hostname, port, pathname } = new URL(url);
  const [tenant = '', authority = ''] = pathname.split('/').slice(-2);
  return { origin, host: hostname.replaceAll(/^\[|\]$/g, ''), port, label: `${tenant}~${authority}` };
}

type Row<Asked> = Omit<EnrolCommand, 'text'> & {
  readonly fits: (enrolment: Asked) => boolean;
  readonly lines: (enrolment: Asked) => readonly string[];
};

const always = (): boolean => true;
/** The other clients make classical keys, and are shown with the secret. */
const isClassical = ({ keyType = '', showsCertificate = false }: Enrolment): boolean => !keyType.startsWith('ml-dsa') && !showsCertificate;
const pkcs10 = "--header 'Content-Type: application/pkcs10' --header 'Content-Transfer-Encoding: base64'";
const { appliance, issuer } = trustFiles;

const commands: readonly Row<Enrolment>[] = [
  {
    title: 'curl and openssl',
    note: 'On every machine. The key is made on the device and stays there.',
    fits: always,
    lines: ({ url, device, keyType, showsCertificate = false }) => [
      `openssl req -new ${newKey(keyType)} -nodes -keyout device.key \\`,
      `  -subj ${quote(`/CN=${device}`)} -addext ${quote(`subjectAltName=DNS:${device}`)} -outform DER | openssl base64 -out device.p10`,
      `curl -sS --fail-with-body --cacert ${appliance} ${showsCertificate ? '--cert birth.pem --key birth.key' : '--user "est:$EST_SECRET"'} \\`,
      `  ${pkcs10} \\`,
      `  --data-binary @device.p10 --output device.p7 ${quote(`${url}/simpleenroll`)}`,
      'openssl base64 -d -in device.p7 | openssl pkcs7 -inform DER -print_certs -out device.pem',
      `openssl verify -x509_strict -CAfile ${issuer} device.pem`,
    ],
  },
  {
    title: 'Renewal with curl',
    note: 'With the certificate that the device holds, before it ends. It needs no secret.',
    fits: always,
    lines: ({ url }) => [
      `curl -sS --fail-with-body --cacert ${appliance} --cert device.pem --key device.key \\`,
      `  ${pkcs10} \\`,
      `  --data-binary @device.p10 --output renewed.p7 ${quote(`${url}/simplereenroll`)}`,
      'openssl base64 -d -in renewed.p7 | openssl pkcs7 -inform DER -print_certs -out device.pem',
    ],
  },
  {
    title: 'Look at the connection with openssl',
    note: 'Shows whom a device would speak to, and fails where it is not this appliance.',
    fits: always,
    lines: ({ url }) => {
      const { host, port } = partsOf(url);
      const place = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
      return [`openssl s_client -connect ${quote(place)} -CAfile ${appliance} -verify_return_error -brief </dev/null`];
    },
  },
  {
    title: 'strongSwan',
    note: 'Version 6 or newer. The last command has the certificate in DER.',
    fits: isClassical,
    lines: ({ url, device }) => {
      const { origin, label } = partsOf(url);
      const where = `--url ${quote(origin)} --label ${quote(label)} --cacert ${appliance}`;
      return [
        `pki --estca ${where} --caout est-ca.pem --outform pem --force`,
        'pki --gen --type ecdsa --size 256 > device.key',
        `pki --req --in device.key --type priv --dn ${quote(`CN=${device}`)} --san ${quote(device)} > device.req`,
        `pki --est ${where} $(printf -- '--cacert %s ' est-ca*.pem) \\`,
        '  --in device.req --userpass "est:$EST_SECRET" > device.crt',
      ];
    },
  },
  {
    title: 'libest',
    note: 'Built with uriparser (--with-uriparser-dir), for path segments; that of Debian is not.',
    fits: isClassical,
    lines: ({ url, device }) => {
      const { host, port, label } = partsOf(url);
      return [
        `cat ${appliance} ${issuer} > trusted.pem`,
        `EST_OPENSSL_CACERT=trusted.pem estclient -e -s ${quote(host)} -p ${port} -o . \\`,
        `  --path-seg ${quote(label)} -u est -h "$EST_SECRET" --common-name ${quote(device)}`,
      ];
    },
  },
];

const hasTls = (url: string): boolean => url.startsWith('https:');

/** Advice for clients that cannot be told whom to trust. */
const trustedBySystem = (url: string): readonly string[] =>
  hasTls(url)
    ? [
        `# The system has to trust ${appliance}; Debian: cp ${appliance} /usr/local/share/ca-certificates/keystored.crt && update-ca-certificates`,
      ]
    : [];

const isOneName = ({ subject }: ScepEnrolment): boolean => /^CN=[^,+\\]+$/.test(subject);

const scepRows: readonly Row<ScepEnrolment>[] = [
  {
    title: 'strongSwan',
    note: 'Version 5.9.8 or newer. The key is made on the device and stays there.',
    fits: always,
    lines: ({ url, subject, name }) => [
      ...trustedBySystem(url),
      `pki --scepca --url ${quote(url)} --caout ca.der --raout ra.der --force`,
      'pki --gen --type rsa --size 2048 > device.key',
      // Verification first: the secret is encrypted for this certificate.
      `openssl x509 -inform DER -in ra.der | openssl verify -CAfile ${issuer} && \\`,
      `pki --scep --url ${quote(url)} --in device.key --dn ${quote(subject)} ${name === undefined ? '' : `--san ${quote(name)} `}\\`,
      '  --password "$SCEP_SECRET" --cacert-enc ra.der --cacert-sig ra.der --cacert ca.der --outform pem > device.pem',
    ],
  },
  {
    title: 'certmonger',
    note: 'Renews by itself.',
    fits: always,
    lines: ({ url, subject, name }) => [
      ...trustedBySystem(url),
      `getcert add-scep-ca -c keystored -u ${quote(url)}${hasTls(url) ? ` -R "$PWD/${appliance}"` : ''}`,
      `getcert request -c keystored -k "$PWD/device.key" -f "$PWD/device.pem" -N ${quote(subject)} \\`,
      `  ${name === undefined ? '' : `-D ${quote(name)} `}-L "$SCEP_SECRET" -w`,
    ],
  },
  {
    title: 'sscep',
    note: 'It has no TLS. The request of openssl has the secret in it.',
    fits: (enrolment) => isOneName(enrolment) && enrolment.plainUrl !== undefined,
    lines: ({ plainUrl: url = '', subject, name }) => [
      `printf '[req]\\ndistinguished_name=dn\\nprompt=no\\nattributes=at\\n[dn]\\nCN=%s\\n[at]\\nchallengePassword=%s\\n' ${quote(subject.slice(3))} "$SCEP_SECRET" > device.cnf`,
      `openssl req -new -newkey rsa:2048 -nodes -keyout device.key -config device.cnf ${name === undefined ? '' : `-addext ${quote(`subjectAltName=DNS:${name}`)} `}-out device.csr`,
      `sscep getca -u ${quote(url)} -c ra.pem`,
      `openssl verify -CAfile ${issuer} ra.pem-0 && \\`,
      `sscep enroll -u ${quote(url)} -c ra.pem-0 -k device.key -r device.csr -l device.pem -E aes256 -S sha256`,
    ],
  },
  {
    title: 'micromdm scepclient',
    note: 'Sends DES and SHA-1, which this CA takes.',
    fits: (enrolment) => isOneName(enrolment) && ['des', 'sha1'].every((old) => enrolment.allowOld.includes(old)),
    lines: ({ url, subject }) => [
      // Fingerprint of the certificate to encrypt for: without it the client takes the last one.
      `RA=$(curl -sS ${hasTls(url) ? `--cacert ${appliance} ` : ''}${quote(`${url}?operation=GetCACert`)} | openssl pkcs7 -inform DER -print_certs \\`,
      "  | openssl x509 -outform DER | openssl dgst -sha256 -r | cut -d' ' -f1)",
      `${hasTls(url) ? `SSL_CERT_FILE=${appliance} ` : ''}scepclient -server-url ${quote(url)} -ca-fingerprint "$RA" \\`,
      // Empty values in place of defaults, which would be part of the subject.
      `  -private-key device.key -certificate device.pem -challenge "$SCEP_SECRET" -cn ${quote(subject.slice(3))} -organization '' -ou '' -country ''`,
    ],
  },
];

/** Attributes of a subject as OpenSSL takes them: `/CN=a/O=b`; undefined for what it has another way to write. */
function slashed(subject: string): string | undefined {
  return /^[A-Za-z]+=[^,+\\/]+(?:,[A-Za-z]+=[^,+\\/]+)*$/.test(subject) ? `/${subject.replaceAll(',', '/')}` : undefined;
}

const cmpRows: readonly Row<CmpEnrolment>[] = [
  {
    title: 'openssl cmp',
    note: 'Version 3.0 or newer. The key is made on the device and stays there.',
    fits: ({ subject }) => slashed(subject) !== undefined,
    lines: ({ url, subject, name, reference }) => [
      'openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out device.key',
      `openssl cmp -config '' -cmd ir -server ${quote(url)} ${url.startsWith('https:') ? `-tls_used -tls_trusted ${appliance} ` : ''}\\`,
      `  -ref ${quote(reference)} -secret env:CMP_SECRET -newkey device.key -subject ${quote(slashed(subject) ?? '')} ${name === undefined ? '' : `-sans ${quote(name)} `}\\`,
      `  -recipient /CN=issuer -trusted ${issuer} -certout device.pem`,
    ],
  },
  {
    title: 'Renewal with openssl cmp',
    note: 'With the certificate that the device holds, before it ends. It needs no secret.',
    fits: always,
    lines: ({ url }) => [
      'openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out renewed.key',
      `openssl cmp -config '' -cmd kur -server ${quote(url)} ${url.startsWith('https:') ? `-tls_used -tls_trusted ${appliance} ` : ''}\\`,
      `  -cert device.pem -key device.key -newkey renewed.key -recipient /CN=issuer -trusted ${issuer} -certout renewed.pem`,
    ],
  },
];

const acmeRows: readonly Row<AcmeEnrolment>[] = [
  {
    title: 'certbot',
    note: 'Renews by itself where its timer has REQUESTS_CA_BUNDLE, too. Nothing has to be reached on the device.',
    fits: always,
    lines: ({ url, name, keyId }) => [
      `REQUESTS_CA_BUNDLE=${appliance} certbot certonly --standalone -n --agree-tos --register-unsafely-without-email \\`,
      `  --server ${quote(url)} --eab-kid ${quote(keyId)} --eab-hmac-key "$EAB_KEY" -d ${quote(name)}`,
    ],
  },
  {
    title: 'lego',
    note: 'Renews with the same options, and renew in place of run. Nothing has to be reached on the device.',
    fits: always,
    lines: ({ url, name, keyId }) => [
      `LEGO_CA_CERTIFICATES=${appliance} lego --server ${quote(url)} --accept-tos -m ${quote(`admin@${name}`)} --path . \\`,
      `  --eab --kid ${quote(keyId)} --hmac "$EAB_KEY" --http -d ${quote(name)} run`,
    ],
  },
];

/** Options of `openssl req` for a key that the authority certifies. */
function newKey(keyType = ''): string {
  return keyType.startsWith('ml-dsa') ? `-newkey ${quote(keyType)}` : '-newkey ec -pkeyopt ec_paramgen_curve:P-256';
}
