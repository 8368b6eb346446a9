// The options that say which appliance is meant, and with which token; connection.ts makes the connection of them.
import { Option } from 'commander';

export type ConnectionOptions = {
  url?: string;
  ca?: string;
  token?: string;
  tokenFile?: string;
  dataDir?: string;
  context?: string;
  clientCert?: string;
  clientKey?: string;
};

/** Certificate with its CAs in between, and its key: PEM, and the absolute paths of their files. */
export type ClientIdentity = {
  readonly cert: string;
  readonly key: string;
  readonly files: { readonly cert: string; readonly key: string };
};

export type Connection = {
  /** origin, `https://127.0.0.1:4646`; of appliances that share a store those of several, with commas in between */
  readonly url: string;
  /** certificates in PEM; undefined: those the system trusts */
  readonly ca: string | undefined;
  readonly token: string | undefined;
  /** shown to an appliance that asks for one */
  readonly identity?: ClientIdentity;
  /** of the profile: where a login keeps its token */
  readonly context: string;
};

/** address of an appliance on this machine */
export const defaultUrl = 'https://127.0.0.1:4646';

/** The options, for every command that talks to an appliance. */
export function connectionOptions(): Option[] {
  return [
    new Option('--context <NAME>', 'context of the profile to use, see "context list" [KEYSTORED_CONTEXT]'),
    new Option(
      '--url <URL>',
      `address of the management API; of a cluster several, with commas in between [KEYSTORED_URL] (default: ${defaultUrl})`,
    ),
    new Option('--ca <FILE>', 'certificates to trust, PEM [KEYSTORED_CA]'),
    new Option('--token <TOKEN>', 'token; other users of this machine can see it here, so prefer: [KEYSTORED_TOKEN]'),
    new Option('--token-file <FILE>', 'file with the token, - for standard input [KEYSTORED_TOKEN_FILE]'),
    new Option('--client-cert <FILE>', 'certificate to log in with, PEM; tokens bound to it need it again [KEYSTORED_CLIENT_CERT]'),
    new Option('--client-key <FILE>', 'its private key, PEM [KEYSTORED_CLIENT_KEY]'),
    new Option('--data-dir <DIR>', 'data directory of an appliance on this machine: its CA and root token [KEYSTORED_DATA]'),
  ].map((option) => option.helpGroup('Connection:'));
}
