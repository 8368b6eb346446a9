// The fingerprint of a certificate, to be compared with another source.
import { useSignal } from '@preact/signals';
import { Fragment, type ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { CopyButton } from '../../parts/copy-button.tsx';
import { certificatesIn, fingerprintOf } from './pem.ts';

/** As long as a fingerprint. */
const unknown = Array.from({ length: 32 }, () => '00').join(':');

/** `which`: of several certificates in the PEM. `what`: for screen readers, to follow "fingerprint of". */
export function Fingerprint({
  pem,
  which = 0,
  what,
  children,
}: {
  readonly pem: string;
  readonly which?: number;
  readonly what: string;
  /** more buttons beside the one that copies */
  readonly children?: ComponentChildren;
}): ComponentChildren {
  const text = useSignal<string | undefined>(undefined);
  useEffect(() => {
    text.value = undefined;
    const octets = certificatesIn(pem).at(which);
    if (octets !== undefined) void fingerprintOf(octets).then((made) => (text.value = made));
  }, [pem, which]);
  // Parts that follow have their place before the hash is there.
  const shown = text.value ?? unknown;
  return (
    <span class={text.value === undefined ? 'fingerprint awaited' : 'fingerprint'}>
      <code>
        {groupsOf(shown).map((group, index) => (
          <Fragment key={index}>
            {index > 0 && <wbr />}
            {group}
          </Fragment>
        ))}
      </code>
      <span class="buttons">
        <CopyButton text={shown} what={`fingerprint of ${what}`} />
        {children}
      </span>
    </span>
  );
}

/** Eight octets each, so that lines break where one counts. */
function groupsOf(text: string): readonly string[] {
  return text.match(/.{1,24}/g) ?? [];
}
