// A request as commands that do the same: keystorectl, and curl.
import type { Entry } from '../description/catalog.ts';
import { targetOf, type Request } from '../api/request.ts';
import { quote } from '../../../../core/base/texts/quote.ts';

export type CommandText = { readonly program: 'keystorectl' | 'curl'; readonly text: string };

export type Commanded = {
  readonly entry: Entry;
  /** values of the names in the path */
  readonly names: readonly string[];
  readonly request: Request;
  /** the field that names a new entry */
  readonly nameField?: string | undefined;
  /** true if the body holds something that no command may show */
  readonly hasSecrets: boolean;
};

/** File with the CA certificates of the appliance, in the directory where the commands are run. */
export const caFile = 'ca.pem';
/** Address of its content. */
export const caAddress = '/v1/ca/system/appliance/ca.pem';

/** Commands that tell a shell where the appliance is and who asks: the token is typed, so that it is in no history. */
export function setUpOf(origin: string): string {
  return [`export KEYSTORED_URL=${quote(origin)} KEYSTORED_CA=${caFile}`, 'read -rs KEYSTORED_TOKEN && export KEYSTORED_TOKEN'].join('\n');
}

/** The file that stands for a body with secrets. */
const bodyFile = 'request.json';

export function commandsOf(commanded: Commanded, origin: string): readonly CommandText[] {
  return [
    { program: 'keystorectl', text: keystorectl(commanded) },
    { program: 'curl', text: curl(commanded, origin) },
  ];
}

function keystorectl({ entry, names, request, nameField, hasSecrets }: Commanded): string {
  const { command } = entry;
  const { verb, resource = '', action } = command;
  const body = { ...(request.body as Readonly<Record<string, unknown>> | undefined) };
  const words = ['keystorectl', verb, resource, ...names, ...(action === undefined ? [] : [action])];
  if (nameField !== undefined && typeof body[nameField] === 'string') {
    words.push(body[nameField]);
    delete body[nameField];
  }
  for (const [name, value] of Object.entries({ ...request.query, ...request.headers })) words.push(`--${name.toLowerCase()}=${value}`);
  if (command.ends !== undefined) words.push('--yes');
  const line = (more: readonly string[]): string => [...words, ...more].map(quote).join(' ');
  if (Object.keys(body).length === 0)
    return request.body === undefined || verb === 'create' ? line([]) : `printf '{}' | ${line(['--file', '-'])}`;
  if (hasSecrets) return line(['--file', bodyFile]);
  const flags = Object.entries(body).map(([name, value]) => flagsOf(name, value));
  if (flags.every((some) => some !== undefined)) return line(flags.flat());
  return `printf %s ${quote(JSON.stringify(body))} | ${line(['--file', '-'])}`;
}

/** The flags of a field; undefined for what has to go into a document. */
function flagsOf(name: string, value: unknown): readonly string[] | undefined {
  if (Array.isArray(value)) {
    const some = value.map((one: unknown) => flagsOf(name, one));
    return value.length > 0 && value.every((one) => typeof one === 'string') && some.every((one) => one !== undefined)
      ? some.flat()
      : undefined;
  }
  if (typeof value === 'boolean' || typeof value === 'number') return [`--${name}=${String(value)}`];
  // At the start, @ names a file, - is standard input and [ begins a list.
  return typeof value === 'string' && !/^[@[-]/.test(value) && !/[\r\n]/.test(value) && value !== '' ? [`--${name}=${value}`] : undefined;
}

function curl({ request, hasSecrets }: Commanded, origin: string): string {
  const { method, headers = {}, body } = request;
  const lines = [
    `curl --cacert ${caFile} --fail-with-body --request ${method} ${quote(origin + targetOf(request))}`,
    '--header "Authorization: Bearer $KEYSTORED_TOKEN"',
    ...Object.entries(headers).map(([name, value]) => `--header ${quote(`${name}: ${value}`)}`),
  ];
  if (body !== undefined) {
    lines.push("--header 'Content-Type: application/json'");
    lines.push(hasSecrets ? `--data-binary @${bodyFile}` : `--data-raw ${quote(JSON.stringify(body))}`);
  }
  return lines.join(' \\\n  ');
}
