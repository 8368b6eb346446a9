// The story (test/interop/vault-clients.test.ts) by node-vault.
import { readFileSync } from 'node:fs';
import nodeVault from 'node-vault';

const { KEY: name, ROLE_ID: roleId, SECRET_ID: secretId, VAULT_ADDR: endpoint, VAULT_CACERT: caFile } = process.env;
const client = nodeVault({ endpoint, requestOptions: { ca: readFileSync(caFile) } });
const octets = (text) => Buffer.from(text).toString('base64');
const textOf = (encoded) => Buffer.from(encoded, 'base64').toString();
const refusal = (promise) =>
  promise.then(
    () => 'none',
    (error) => `${error.response?.statusCode}: ${error.response?.body?.errors?.[0] ?? ''}`,
  );
const report = {};

const health = await client.health();
const seal = await client.status();
report.service = {
  initialized: health.initialized,
  sealed: [health.sealed, seal.sealed, (await client.initialized()).initialized === false],
};

const wrong = await refusal(client.approleLogin({ role_id: roleId, secret_id: 'wrong' }));
const login = await client.approleLogin({ role_id: roleId, secret_id: secretId });
const { data: me } = await client.tokenLookupSelf();
report.login = {
  wrong,
  authenticated: true,
  same: me.accessor === login.auth.accessor && me.id === client.token,
  who: me.display_name,
  renewable: me.renewable && login.auth.renewable,
  ttl: me.ttl,
};

report.accessor = (await client.tokenLookupAccessor({ accessor: me.accessor })).data.display_name;
report.mounts = [(await client.mounts()).data['transit/'].type, (await client.auths()).data['approle/'].type];
await client.transitCreateKey({ name });
const paths = [`transit/encrypt/${name}`, `transit/export/${name}`];
const capabilities = await client.write('sys/capabilities-self', { paths });
report.capabilities = paths.map((path) => capabilities.data[path]);
report.absent = await refusal(client.transitReadKey({ name: 'absent' }));
await client.transitCreateKey({ name: `${name}-ecdsa`, type: 'ecdsa-p256' });
await client.transitCreateKey({ name: `${name}-ed25519`, type: 'ed25519' });
const encrypt = async (key, fields) => (await client.encryptData({ name: key, ...fields })).data;
const decrypt = async (fields) => (await client.decryptData({ name, ...fields })).data;
const { ciphertext: first } = await encrypt(name, { plaintext: octets('first') });
await encrypt(`${name}-upserted`, { plaintext: octets('made') });
report.keys = (await client.transitListKeys()).data.keys.filter((key) => key.startsWith(name));

report.opened = [textOf((await decrypt({ ciphertext: first })).plaintext)];
await client.write(`transit/keys/${name}/rotate`);
const { ciphertext: rewrapped } = (await client.rewrapData({ name, ciphertext: first })).data;
report.opened.push(textOf((await decrypt({ ciphertext: rewrapped })).plaintext));
report.prefixes = [first, rewrapped].map((value) => value.slice(0, 9));
const undeletable = await refusal(client.transitDeleteKey({ name }));
await client.write(`transit/keys/${name}/config`, { min_decryption_version: 2, deletion_allowed: true });
const { data: read } = await client.transitReadKey({ name });
const fields = ['type', 'latest_version', 'min_decryption_version', 'deletion_allowed'];
report.read = Object.fromEntries(fields.map((field) => [field, read[field]]));
report.tooOld = await refusal(decrypt({ ciphertext: first }));
const { data: trimmed } = await client.write(`transit/keys/${name}/trim`, { min_available_version: 2 });
report.trimmed = [trimmed.min_available_version, Object.keys(trimmed.keys)];

const { data: dataKey } = await client.write(`transit/datakey/plaintext/${name}`, { bits: 128 });
report.dataKey = (await decrypt({ ciphertext: dataKey.ciphertext })).plaintext === dataKey.plaintext;
report.wrappedAlone = !('plaintext' in (await client.write(`transit/datakey/wrapped/${name}`)).data);
report.verified = [];
const verify = async (key, text, rest) => {
  const { data } = await client.write(`transit/verify/${key}`, { input: octets(text), ...rest });
  report.verified.push(data.valid);
};
for (const kind of ['ecdsa', 'ed25519']) {
  const { signature } = (await client.write(`transit/sign/${name}-${kind}`, { input: octets('signed') })).data;
  for (const text of ['signed', 'other']) await verify(`${name}-${kind}`, text, { signature });
}
const { hmac } = (await client.write(`transit/hmac/${name}/sha2-512`, { input: octets('signed') })).data;
for (const text of ['signed', 'other']) await verify(`${name}/sha2-512`, text, { hmac });
report.random = (await client.write('transit/random/24', { format: 'hex' })).data.random_bytes.length;

const { batch_results: batch } = await encrypt(name, {
  batch_input: ['a', 'b'].map((text) => ({ plaintext: octets(text), reference: text })),
});
const { batch_results: opened } = await decrypt({ batch_input: batch.map(({ ciphertext }) => ({ ciphertext })) });
report.batch = batch.map(({ reference }, index) => `${reference}:${textOf(opened[index].plaintext)}`);

await client.transitDeleteKey({ name });
report.deleted = [undeletable, await refusal(client.transitReadKey({ name }))];

const { auth: renewed } = await client.tokenRenewSelf({ increment: '1800' });
report.renewed = [renewed.client_token === client.token, renewed.lease_duration];
await client.tokenRevokeSelf();
report.revoked = await refusal(client.tokenLookupSelf());
console.log(JSON.stringify(report));
