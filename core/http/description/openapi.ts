// The API description (OpenAPI 3.1), built from the endpoints that also define routes, checks and audit records.
import { defined } from '../../base/defined.ts';
import { coreErrors, type ErrorTable } from '../../base/errors.ts';
import { askedOf, askedResponses, askedSchemas } from './asked.ts';
import { bodiesOf, inputOf, outputOf, type Bodies } from './bodies.ts';
import { commandOf, operationIdOf, type Command } from './command.ts';
import { fieldsOf, mapValues, type JsonSchema, type OpenApiDocument, type Operation } from './document.ts';
import { NamedSchemas } from './named-schemas.ts';
import { nounsOf, parametersOf, type Nouns } from './parameters.ts';
import { orRefused, problemItemSchema, problemSchema, refusalsOf, sharedRefusals } from './refusals.ts';
import type { AnyEndpoint, Tag } from '../endpoint.ts';

export type { OpenApiDocument } from './document.ts';

/**
 * Describes every endpoint except pages for people: parameters, bodies in wire names, answers, the codes each can answer with, and as
 * `x-command` its name on the command line. Throws if an endpoint names an error, a secret or a field that does not exist, and if
 * two operations or two schemas have one name.
 */
export function buildOpenApi(endpoints: readonly AnyEndpoint[], tables: readonly ErrorTable[]): OpenApiDocument {
  const described = endpoints.filter((endpoint) => endpoint.produces !== 'text/html' && endpoint.undescribed !== true);
  const builder = new DescriptionBuilder(described, Object.assign({}, coreErrors, ...tables) as ErrorTable);
  const paths: Record<string, Record<string, Operation>> = {};
  for (const endpoint of described) (paths[endpoint.path] ??= {})[endpoint.method.toLowerCase()] = builder.operation(endpoint);
  const { responses, examples } = sharedRefusals(builder.errors);
  return {
    openapi: '3.1.0',
    info: {
      title: 'keystored',
      version: '1',
      summary,
      description,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      contact: { name: 'keystored' },
    },
    servers: [{ url: '/', description: 'the management listener that answered this description' }],
    security: [{ token: [] }],
    tags: tagsOf(described),
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer', description: 'The token that a login answered, or a root token.' } },
      schemas: { Problem: problemSchema, ProblemItem: problemItemSchema, ...askedSchemas, ...builder.schemas },
      responses: { ...askedResponses, ...responses },
      examples,
    },
    'x-errors': builder.errors,
  };
}

const summary = 'Key management, federated login and device enrolment, with every private key in a PKCS#11 token.';
const description = `**Refusals** are RFC 9457 documents; their \`code\` is the contract. \`x-codes\` of an operation lists the codes that it may answer with, and \`x-errors\` says of each code which status it has, when it comes and what mends it.

**Bodies.** A body that is required is always sent, if only as \`{}\`: those of PUT and PATCH, and those with a required field. Where it is not required, no body is the same as \`{}\`.

**Partial answers.** The \`hide-fields\` of a policy leave fields out of documents and of entries of lists, but never the name of the entry. That field is required, others are not. The query parameter \`fields\` answers what it names and nothing else: clients that check what is required put the name among it. Other answers have the fields that they require unless a policy hides them: such a policy is one that its callers know of.

**Answers may grow.** Later versions add fields to answers and values to the enumerations in answers. Requests are closed: an unknown field is refused.

**Lists** answer an array. \`Total-Count\` says how many entries there are, and \`Link\` with \`rel="next"\` where the next ones are.

**Approvals.** Where a rule of the tenant asks for the approval of other people, a request is refused with \`approval-needed\`. Sent with the header \`Approval-Reason\` (percent-encoded UTF-8) it asks for approval and is answered 202 with the document \`ApprovalAsked\`. Sent once more with the header \`Approval\` and the id, when enough people have approved, it runs.

**Extensions.** \`x-idempotent\`: an operation that may be repeated without harm when no answer came; others may be repeated after 429, and after 503 with \`Retry-After\`, which say that nothing was done. \`x-operation\`: the verb that policies speak of; \`x-judged-as\`: the last part of the path that they see, where it is another one. \`x-command\`: how keystorectl spells an operation. \`x-useful-with\`: settings of the entry in the path, one of which is true where there is a use for the operation. \`x-secret\`: never in logs. \`x-payload\`: base64, or raw text where \`base64-encoded\` is false. \`x-octets-of\`: the text field in whose place it gives octets.`;

class DescriptionBuilder {
  readonly errors: ErrorTable;
  readonly #named = new NamedSchemas();
  readonly #paths: ReadonlySet<string>;
  readonly #nouns: Nouns;
  readonly #operationIds = new Set<string>();

  constructor(endpoints: readonly AnyEndpoint[], errors: ErrorTable) {
    this.errors = errors;
    this.#paths = new Set(endpoints.map(({ path }) => path));
    this.#nouns = nounsOf(endpoints);
  }

  get schemas(): Readonly<Record<string, JsonSchema>> {
    return this.#named.schemas;
  }

  operation(endpoint: AnyEndpoint): Operation {
    const command = commandOf(endpoint, this.#paths);
    const written = { input: inputOf(endpoint), output: outputOf(endpoint) };
    if (command !== undefined) requireHints(endpoint, command, written);
    const operationId = operationIdOf(endpoint, command);
    if (this.#operationIds.has(operationId)) throw new Error(`${endpoint.method} ${endpoint.path} and another are both ${operationId}`);
    this.#operationIds.add(operationId);
    const { codes, responses: refusals } = refusalsOf(endpoint, this.errors);
    const { requestBody, successes }: Bodies = bodiesOf(endpoint, operationId, written, this.#named);
    return {
      operationId,
      summary: endpoint.summary,
      description: endpoint.description ?? endpoint.summary,
      tags: [endpoint.tag.name],
      ...(endpoint.access === 'public'
        ? { security: [] }
        : { 'x-operation': endpoint.operation, ...defined({ 'x-judged-as': endpoint.judgedAs?.action }) }),
      ...defined({ 'x-idempotent': isIdempotent(endpoint), 'x-command': command, 'x-useful-with': endpoint.usefulWith }),
      parameters: parametersOf(endpoint, this.#nouns),
      ...defined({ requestBody }),
      responses: {
        ...refusals,
        ...askedOf(endpoint, successes),
        ...mapValues(successes, (success, status) => (status in refusals ? orRefused(success, status) : success)),
      },
      'x-codes': codes,
    };
  }
}

function isIdempotent({ method, idempotent, noHead }: AnyEndpoint): true | undefined {
  if (idempotent === true || method === 'PUT' || method === 'DELETE') return true;
  return method === 'GET' && noHead !== true ? true : undefined;
}

function tagsOf(endpoints: readonly AnyEndpoint[]): readonly Tag[] {
  const byName = new Map<string, Tag>();
  for (const { tag } of endpoints) byName.set(tag.name, tag);
  return [...byName.values()];
}

type Written = { readonly input: JsonSchema | undefined; readonly output: JsonSchema | undefined };

function requireHints(endpoint: AnyEndpoint, command: Command, { input = {}, output = {} }: Written): void {
  const { positional = [], in: into, out, 'octets-with': octetsWith = {}, verdict = [] } = command;
  const strange = [
    ...[...positional, into, ...Object.keys(octetsWith)].filter((name) => name !== undefined && !Object.hasOwn(fieldsOf(input), name)),
    ...[out?.split('.')[0], ...[verdict].flat()].filter((name) => name !== undefined && !Object.hasOwn(fieldsOf(output), name)),
  ];
  if (strange.length > 0) throw new Error(`${endpoint.method} ${endpoint.path} hints at ${strange.join()}, which it does not have`);
}
