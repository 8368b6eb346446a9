// Examples of one operation: a request with curl, a command of keystorectl, and the answer to both.
import { fieldsOf, successesOf, type Content, type JsonSchema, type OpenApiDocument, type Operation } from '../document.ts';
import { exampleProblem } from '../refusals.ts';
import { exampleOf } from '../schema.ts';
import type { Entry } from './frame.ts';
import { isJsonObject } from '../../../wire/json.ts';

const server = 'https://keystored.example:4646';

/** Formats a curl command. Lines end in a backslash, so that the whole can be pasted. */
export function curlOf({ method, path, operation }: Entry): string {
  const { parameters, security, requestBody } = operation;
  const target = path.replace(/\{([^}]+)\}/g, (_, name: string) => encodeURIComponent(nameFrom(parameters, name)));
  const [type, media] = firstOf(requestBody?.content);
  const example = media?.example ?? (media === undefined ? undefined : exampleOf(media.schema));
  const body = example === undefined ? undefined : JSON.stringify(example);
  return [
    `curl --cacert ca.pem${method === 'GET' || (method === 'POST' && body !== undefined) ? '' : ` -X ${method}`}`,
    `${server}${target}`,
    ...(security === undefined ? [`-H "Authorization: Bearer $TOKEN"`] : []),
    ...(type === undefined || (body === undefined && type === 'application/json') ? [] : [`-H 'Content-Type: ${type}'`]),
    ...(body === undefined ? (type === undefined || type === 'application/json' ? [] : ['--data-binary @FILE']) : [`-d ${quoted(body)}`]),
  ].join(' \\\n  ');
}

/** Formats a command of keystorectl; undefined for an operation without one. */
export function commandLineOf({ path, operation }: Entry): string | undefined {
  const { 'x-command': command, parameters, requestBody } = operation;
  if (command === undefined) return undefined;
  const [, media] = firstOf(requestBody?.content);
  const body = media === undefined ? undefined : (media.example ?? exampleOf(media.schema));
  const given: Readonly<Record<string, unknown>> = isJsonObject(body) ? body : {};
  const names = [...path.matchAll(/\{([^}]+)\}/g)].map(([, name = '']) => nameFrom(parameters, name));
  const isCreation = command.verb === 'create';
  const positional = [...(isCreation ? ['name'] : []), ...(command.positional ?? [])].filter((name) => given[name] !== undefined);
  const values = positional.map((name) => String(given[name]));
  const order = isCreation ? [...names, ...values, command.action] : [...names, command.action, ...values];
  const config = command.tree === 'config' && (command.verb === 'show' || command.verb === 'list') ? ['--config'] : [];
  const words = ['keystorectl', command.verb, command.resource, ...order.map((word) => (word === undefined ? word : quoted(word)))];
  const fields = Object.entries(given).filter(([name]) => !positional.includes(name));
  const options = fields.flatMap(([name, value]) => optionsOf(name, value));
  return [[...words.filter((word) => word !== undefined), ...config].join(' '), ...options].join(' \\\n  ');
}

/** Example of the successful answer of an operation. */
export function answerExampleOf(operation: Operation): { readonly status: string; readonly text: string | undefined } {
  const [status = '', response] = successesOf(operation)[0] ?? [];
  const [, media] = firstOf(response?.content);
  const example = media === undefined ? undefined : (media.example ?? exampleOf(media.schema));
  return {
    status,
    text: example === undefined ? undefined : typeof example === 'string' ? example : JSON.stringify(example, undefined, 2),
  };
}

/** Example of a refusal: the most specific one among the codes with the least status. */
export function refusalExampleOf({ 'x-codes': codes }: Operation, { 'x-errors': errors }: OpenApiDocument): string | undefined {
  const statusOf = (code: string): number => errors[code]?.status ?? 0;
  const ofCaller = codes.filter((code) => statusOf(code) < 500);
  const least = Math.min(...ofCaller.map(statusOf));
  const code = ofCaller.findLast((one) => statusOf(one) === least);
  return code === undefined ? undefined : JSON.stringify(exampleProblem(code, errors), undefined, 2);
}

/** The schema of an answer; of a list, that of its elements. */
export function answerSchemaOf(operation: Operation): JsonSchema | undefined {
  const [, response] = successesOf(operation)[0] ?? [];
  const schema = firstOf(response?.content)[1]?.schema;
  return schema?.items !== undefined && Object.keys(fieldsOf(schema.items)).length > 0 ? schema.items : schema;
}

export function firstOf(content: Content = {}): readonly [type: string | undefined, media: Content[string] | undefined] {
  const [type, media] = Object.entries(content)[0] ?? [];
  return [type, media];
}

function nameFrom(parameters: Operation['parameters'], name: string): string {
  const parameter = parameters.find((one) => one.in === 'path' && one.name === name);
  return parameter === undefined ? name : String(exampleOf(parameter.schema));
}

/** Formats options: containers with a slash, a flag alone for true, lists of texts once for each; anything deeper as JSON. */
function optionsOf(path: string, value: unknown): string[] {
  if (value === true) return [`--${path}`];
  if (value === false) return [`--no-${path}`];
  if (isJsonObject(value)) return Object.entries(value).flatMap(([name, inner]) => optionsOf(`${path}/${name}`, inner));
  if (!Array.isArray(value)) return [`--${path} ${quoted(String(value))}`];
  if (value.some((one) => typeof one === 'object')) return [`--${path} ${quoted(JSON.stringify(value))}`];
  return value.map((one) => `--${path} ${quoted(String(one))}`);
}

/** Quotes a text for a shell. */
function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
