// Tokens as things of a storm: made by a token or by a login, ended by their accessor. One that was ended is refused for ever.
import type { Fixtures } from '../prepared.ts';
import type { Sort, Step } from './thing.ts';

/** Without `token` where an appliance made it whose clock was so far ahead that others refuse it as not begun. */
type Token = { readonly token?: string; readonly accessor?: string; readonly isEnded: boolean };

type Making = Pick<Step<Token>, 'kind' | 'path' | 'body' | 'more'>;

const tokens = '/v1/state/keystore/token';
/** What the tokens of the storm may read. */
const readable = '/v1/config/tenants';

/** Seconds that an appliance takes for a small correction of its clock. */
const clockToleranceSeconds = 300;

/** Whether an answer was given by a clock that is further ahead than appliances tolerate. `clockSeconds`: what is right, from the clock here. */
export function isOfClockAhead(creationTime: string, clockSeconds: number): boolean {
  return Date.parse(creationTime) / 1_000 - clockToleranceSeconds > Date.now() / 1_000 + clockSeconds;
}

/** Tokens made by the root token, and by logins with an approle. `clockSeconds`: of appliances, from the clock here. */
export function tokenSorts({ roleId, secretId }: Pick<Fixtures, 'roleId' | 'secretId'>, clockSeconds: number): readonly Sort<Token>[] {
  const made: Making = { kind: 'make token', path: `${tokens}/create`, body: { policies: ['root'], ttl: '10d' } };
  const credentials = { 'role-id': roleId, 'secret-id': secretId };
  const login: Making = { kind: 'log in', path: '/v1/approle-login', body: credentials, more: { token: null } };
  return [sortOf('token', made, clockSeconds), sortOf('token of a login', login, clockSeconds)];
}

function sortOf(kind: string, making: Making, clockSeconds: number): Sort<Token> {
  return {
    kind,
    create: () => ({
      ...making,
      method: 'POST',
      next: { isEnded: false },
      learn: ({ body: { token, accessor, 'creation-time': made } }) => ({
        ...(isOfClockAhead(made, clockSeconds) ? {} : { token }),
        ...{ accessor, isEnded: false },
      }),
    }),
    change(_name, token, dice) {
      // What became of an end that was cut off, only the token tells.
      if (token.isEnded || token.token === undefined || dice.chance(0.8)) return undefined;
      const body = { accessor: token.accessor };
      return { kind: 'end token', method: 'POST', path: `${tokens}/disable`, body, next: { ...token, isEnded: true } };
    },
    async use(connection, _name, token) {
      if (token.token !== undefined) await connection.do('GET', readable, undefined, { token: token.token });
      return token;
    },
    async contradiction(connection, _name, token) {
      // One that nobody was answered is nobody's.
      if (token?.token === undefined) return undefined;
      const { status } = await connection.send('GET', readable, undefined, { token: token.token });
      const wanted = token.isEnded ? 401 : 200;
      return status === wanted ? undefined : `a request with it is answered ${status}, not ${wanted}`;
    },
    isFinal: ({ isEnded }) => isEnded,
  };
}
