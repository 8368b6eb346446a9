// Bundle to hand over to the people of an application: the address, the CA, the role-id, a link that opens its secret once, and code.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { fillPath } from '../../address/path.ts';
import { hrefOf } from '../../address/router.ts';
import { caFile } from '../../commands/commands.ts';
import { SaveCa } from '../../commands/set-up.tsx';
import { SaveButton } from '../../marks/save-button.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { useLoaded } from '../../parts/loaded.ts';
import { Moment } from '../../times/moments.tsx';
import { visible } from '../../parts/visible.ts';
import { environmentOf, snippetsFor, type Snippet } from './snippets.ts';
import type { Wish } from './steps.ts';

const applications = '/v1/config/keystore/authentication/approles';

type Opened = { readonly token?: string; readonly 'open-before'?: string };

type BundleProps = { readonly wish: Wish; readonly isDerived: boolean; readonly opened: unknown };

export function Bundle({ wish, isDerived, opened }: BundleProps): ComponentChildren {
  const { application, key, actions } = wish;
  const loaded = useLoaded({ method: 'GET', path: fillPath('/v1/state/keystore/authentication/approles/{name}', [application]) }).value;
  const { token = '', 'open-before': before } = (opened ?? {}) as Opened;
  const state = loaded.state === 'there' ? (loaded.answer.body as { readonly 'role-id'?: string }) : {};
  const { 'role-id': roleId = '' } = state;
  // Behind the number sign: browsers send it to nobody, and it is in no log.
  const link = `${location.origin}/ui/open#${token}`;
  const snippets = snippetsFor({ key, actions, isDerived });
  return (
    <>
      <section class="card" aria-labelledby="bundle-title">
        <h2 id="bundle-title">Hand this over</h2>
        <p>
          <bdi>{visible(application)}</bdi> may use <bdi>{visible(key)}</bdi> now. The link opens its secret-id once: if it was opened
          before them, somebody else has it.
        </p>
        <dl>
          <dt>Link to the secret-id</dt>
          <dd class="with-copy">
            <code>{link}</code> <CopyButton text={link} what="link" isSecret />
            {before !== undefined && (
              <span class="quiet">
                {' '}
                works until <Moment at={before} />
              </span>
            )}
          </dd>
          <dt>Address</dt>
          <dd class="with-copy">
            <code>{location.origin}</code> <CopyButton text={location.origin} what="address" />
          </dd>
          <dt>CA file</dt>
          <dd>
            <SaveCa />
          </dd>
          <dt>Role-id</dt>
          <dd class="with-copy">
            <code>{visible(roleId)}</code> <CopyButton text={roleId} what="role-id" />
          </dd>
        </dl>
        <div class="buttons">
          <SaveButton content={letterOf(wish, link, roleId, snippets)} name={`${application}-${key}.txt`}>
            Save all of it as a file
          </SaveButton>
          <a class="button" href={hrefOf(`${applications}/${encodeURIComponent(application)}`)}>
            Open {visible(application)}
          </a>
        </div>
      </section>
      {snippets.length > 0 && <Code snippets={snippets} environment={environmentOf(location.origin, roleId)} />}
    </>
  );
}

function Code({ snippets, environment }: { readonly snippets: readonly Snippet[]; readonly environment: string }): ComponentChildren {
  const shown = useSignal(0);
  const snippet = snippets[shown.value];
  return (
    <section class="card" aria-labelledby="code-title">
      <h2 id="code-title">A first program</h2>
      <p class="quiet">
        In the folder with {caFile}. The second line waits for the secret-id: paste it and press Enter. The packages of the clients are
        among the files of a release.
      </p>
      <div class="long">
        <pre tabIndex={0} role="group" aria-label="Lines for the shell">
          {visible(environment, 'lines')}
        </pre>
        <CopyButton text={environment} what="lines for the shell" />
      </div>
      <div class="buttons" role="group" aria-label="Language">
        {snippets.map(({ language }, index) => (
          <button key={language} type="button" aria-pressed={shown.value === index} onClick={() => (shown.value = index)}>
            {language}
          </button>
        ))}
      </div>
      {snippet !== undefined && (
        <div class="long">
          <pre tabIndex={0} role="group" aria-label={`Program in ${snippet.language}`}>
            {visible(snippet.text, 'lines')}
          </pre>
          <div class="buttons">
            <CopyButton text={snippet.text} what={`program in ${snippet.language}`} />
            <SaveButton content={snippet.text} name={snippet.file}>
              Save {snippet.file}
            </SaveButton>
          </div>
        </div>
      )}
    </section>
  );
}

/** All of it as one text, to be sent; the link in it works once. */
function letterOf({ application, key, actions }: Wish, link: string, roleId: string, snippets: readonly Snippet[]): string {
  return [
    `Access of ${application} to the key ${key}: ${actions.join(', ')}`,
    '',
    `Address:   ${location.origin}`,
    `CA file:   ${location.origin}/v1/ca/system/appliance/ca.pem (as ${caFile}; it comes better with this text than from there)`,
    `Role-id:   ${roleId}`,
    `Secret-id: opens once at ${link}`,
    '',
    environmentOf(location.origin, roleId),
    ...snippets.flatMap(({ language, file, text }) => ['', `--- ${language}: ${file}`, text]),
    '',
  ].join('\n');
}
