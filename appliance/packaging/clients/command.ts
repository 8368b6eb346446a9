// npm run generate clients [LANGUAGE…]: generates the client libraries into dist/clients, and packs those that are named, or all, into
// dist/clients/packages.
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { languages } from '../../clients/languages.ts';
import { clientsDirectory, provideClients } from '../../clients/provide.ts';
import { packers } from './pack.ts';

const named = process.argv.slice(2);
const unknown = named.filter((name) => !languages.some((language) => language === name));
if (unknown.length > 0) {
  console.error(`There is no client for ${unknown.join(', ')}.\nUsage: npm run generate clients [LANGUAGE…], of ${languages.join(', ')}`);
  process.exit(2);
}

// Files that the tools of the languages write into packages have the usual modes of packages.
process.umask(0o022);
await provideClients();
const packages = join(clientsDirectory, 'packages');
mkdirSync(packages, { recursive: true });
for (const language of languages.filter((one) => named.length === 0 || named.includes(one))) {
  console.error(`packing ${language} …`);
  packers[language](join(clientsDirectory, language), packages);
}
for (const name of readdirSync(packages)) console.log(join(packages, name));
