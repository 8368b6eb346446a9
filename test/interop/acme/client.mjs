// acme-client of npm: enrols by http-01, changes the key of its account, and revokes. Usage: client.mjs DIRECTORY NAME PORT; the server is
// trusted by NODE_EXTRA_CA_CERTS.
import { X509Certificate } from 'node:crypto';
import { createServer } from 'node:http';
import acme from 'acme-client';

const [directoryUrl, name, port] = process.argv.slice(2);
const client = new acme.Client({ directoryUrl, accountKey: await acme.crypto.createPrivateKey() });
const [, csr] = await acme.crypto.createCsr({ altNames: [name] });
const pages = new Map();
const server = createServer((request, response) => response.end(pages.get(request.url) ?? ''));
await new Promise((resolve) => server.listen(Number(port), '127.0.0.1', resolve));
const pem = await client.auto({
  csr,
  email: 'x@example.test',
  termsOfServiceAgreed: true,
  challengePriority: ['http-01'],
  skipChallengeVerification: true,
  challengeCreateFn: async (_authorization, challenge, body) => pages.set(`/.well-known/acme-challenge/${challenge.token}`, body),
  challengeRemoveFn: async (_authorization, challenge) => pages.delete(`/.well-known/acme-challenge/${challenge.token}`),
});
await client.updateAccountKey(await acme.crypto.createPrivateKey());
await client.revokeCertificate(pem, { reason: 4 });
const again = await client.revokeCertificate(pem).then(
  () => 'revoked twice',
  (error) => error.message,
);
server.close();
console.log(JSON.stringify({ names: new X509Certificate(pem).subjectAltName, again }));
