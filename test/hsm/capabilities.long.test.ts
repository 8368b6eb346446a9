// The capability tables in hsm/capabilities match what the tokens do. KEYSTORED_CAPABILITIES=write regenerates them.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { defined } from '../../core/base/defined.ts';
import { describeModule, surveyToken } from '../../hsm/setup/setup.ts';
import { formatSurvey } from '../../hsm/setup/survey.ts';
import { findModules } from '../harness/token/modules.ts';

const tables = resolve(import.meta.dirname, '../../hsm/capabilities');

test.for(await findModules({ builds: true }))('$name does what its table says', async (module, { skip }) => {
  const directory = mkdtempSync(join(tmpdir(), 'keystored-capabilities-'));
  try {
    const token = await module.make(directory);
    const { version } = await describeModule(token.module, {
      ...defined({ environment: token.environment, libraryParameters: token.libraryParameters }),
    });
    const title = `${module.name} ${module.version ?? version}`;
    const file = join(tables, `${title.toLowerCase().replaceAll(' ', '-')}.md`);
    const page = formatSurvey(title, await surveyToken(token));
    if (process.env['KEYSTORED_CAPABILITIES'] === 'write') writeFileSync(file, page);
    skip(!existsSync(file), `${title} has no table yet; KEYSTORED_CAPABILITIES=write makes one`);
    expect(page).toBe(readFileSync(file, 'utf8'));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
