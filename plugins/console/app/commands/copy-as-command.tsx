// "Copy as command": the request that a form would send, as keystorectl and as curl.
import type { ComponentChildren } from 'preact';
import { CopyButton } from '../parts/copy-button.tsx';
import { visible } from '../parts/visible.ts';
import { commandsOf, type Commanded } from './commands.ts';

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
          <p class="quiet">
            Both read the token from <code>KEYSTORED_TOKEN</code>.
            {commanded.hasSecrets && ' The body holds secrets: put it into request.json, which only you can read.'}
          </p>
        </>
      )}
    </details>
  );
}
