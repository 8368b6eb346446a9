// "Copy as command": the request that a form would send, as keystorectl and as curl.
import type { ComponentChildren } from 'preact';
import { CopyButton } from '../parts/copy-button.tsx';
import { visible } from '../parts/visible.ts';
import { commandsOf, setUpOf, type Commanded } from './commands.ts';
import { SaveCa } from './set-up.tsx';

export function CopyAsCommand({ commanded }: { readonly commanded: Commanded | undefined }): ComponentChildren {
  return (
    <details class="commands">
      <summary>Copy as command</summary>
      {commanded === undefined ? (
        <p class="quiet">The fields above are not complete yet.</p>
      ) : (
        <>
          {commandsOf(commanded, location.origin).map(({ program, text }) => (
            <section key={program}>
              <h3>{program}</h3>
              <pre tabIndex={0} role="group" aria-label={`Command for ${program}`}>
                {visible(text, 'lines')}
              </pre>
              <CopyButton text={text} what={`command for ${program}`} />
            </section>
          ))}
          {commanded.hasSecrets && <p class="quiet">The body holds secrets: put it into request.json, which only you can read.</p>}
          <section>
            <h3>Once in a shell, before the first of them</h3>
            <p class="quiet">
              Save <SaveCa />, the CA of this appliance, where you run them. The second line waits for the token: paste it and press Enter.
            </p>
            <pre tabIndex={0} role="group" aria-label="Commands that prepare a shell">
              {setUpOf(location.origin)}
            </pre>
            <CopyButton text={setUpOf(location.origin)} what="commands that prepare a shell" />
          </section>
        </>
      )}
    </details>
  );
}
