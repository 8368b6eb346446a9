// What callers are told when a PKCS#11 call fails: for every CK_RV of every function a code that says what it is, and never internal-error.
import pkcs11js from 'pkcs11js';
import { expect, test } from 'vitest';
import { plugins } from '../../../appliance/plugins.ts';
import { fail } from '../../../core/base/errors.ts';
import { createProblems, formatProblem, sentenceOf } from '../../../core/http/response/problem.ts';
import { HsmError, lacksWrappingKey } from '../../../hsm/api.ts';
import { returnValues, TokenError } from '../../../hsm/pkcs11/return-values.ts';
import { asHsmError } from '../../../hsm/protocol/error-coding.ts';

const problems = createProblems(plugins.map(({ errors }) => errors ?? {}));
/** The binding defines some on each object, some on its class. */
const binding = new pkcs11js.PKCS11();
const functions = [...Object.keys(binding), ...Object.getOwnPropertyNames(Object.getPrototypeOf(binding))].filter((name) =>
  /^C_(?!.*(Callback|Async)$)/.test(name),
);
const numbers = [...returnValues.keys(), 0x8000_0001];
const codeOf = (rv: number, fn: string): string => problems.serviceError(asHsmError(new TokenError(rv, fn))).code;

test('no return value of any function is an internal error', () => {
  expect(functions.length).toBeGreaterThan(30);
  const internal = functions.flatMap((fn) => numbers.filter((rv) => codeOf(rv, fn) === 'internal-error').map((rv) => `${fn} ${rv}`));
  expect(internal).toEqual([]);
});

test('only the function that can know says that a PIN, a ciphertext or a key is at fault; of key material only an import does', () => {
  const speakers = (code: string): string[] =>
    [...new Set(functions.filter((fn) => numbers.some((rv) => codeOf(rv, fn) === code)))].toSorted();
  expect(speakers('decryption-failed')).toEqual(['C_Decrypt']);
  expect(speakers('invalid-key-data')).toEqual([]);
  expect(speakers('key-object-missing')).toEqual(['C_UnwrapKey']);
  const kinds = functions.filter((fn) => numbers.some((rv) => asHsmError(new TokenError(rv, fn)).kind === 'pin-refused'));
  expect([...new Set(kinds)].toSorted()).toEqual(['C_InitPIN', 'C_InitToken', 'C_Login', 'C_SetPIN']);
});

test('a token that is not the one of the store is to be restored, wherever that is noticed; one key that is gone is to be rotated', () => {
  const detailOf = (thrown: unknown): unknown => formatProblem(problems.serviceError(thrown), 'r')['detail'];
  const lacking = new HsmError('key-missing', lacksWrappingKey('the token', 2));
  const told = 'The token has no wrapping key 2: restore the token from the backup that goes with the store.';
  expect([detailOf(lacking), detailOf(fail('key-object-missing', { cause: lacking }))]).toEqual([told, told]);
  expect(sentenceOf(fail('key-object-missing', { cause: lacking }))).toBe(told);
  expect(detailOf(new HsmError('key-missing', 'the key is no longer in its token'))).toContain('Rotate the key');
});

test('what a token refuses is advice to its administrator; what this service asks for wrongly stays an internal error', () => {
  const refused = problems.serviceError(asHsmError(new TokenError(0x68, 'C_SignInit')));
  expect(formatProblem(refused, 'r')).toMatchObject({
    code: 'hsm-unavailable',
    status: 503,
    errors: [{ 'error-message': expect.stringMatching(/^A token refused what keystored asked of it: system:logs has the call/) }],
  });
  expect(problems.serviceError(new HsmError('refused', 'keys of type aes-256 do not sign')).code).toBe('internal-error');
  expect(problems.serviceError(new HsmError('key-not-usable', 'the blob is damaged')).code).toBe('internal-error');
});
