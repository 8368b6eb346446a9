// Saves octets as a file. It is a download of a type that browsers do not open, so that nothing in it can run.
import type { ComponentChildren } from 'preact';
import { visible } from '../parts/visible.ts';
import { fileNameOf } from './file-name.ts';

export type SaveProps = {
  readonly content: Blob | string;
  /** name of the file, in any characters */
  readonly name: string;
  readonly children: ComponentChildren;
};

export function SaveButton({ content, name, children }: SaveProps): ComponentChildren {
  return (
    <button type="button" onClick={() => saveFile(content, name)} title={visible(fileNameOf(name))}>
      {children}
    </button>
  );
}

/** Time for the browser to begin. */
const beginMs = 60_000;

export function saveFile(content: Blob | string, name: string): void {
  const address = URL.createObjectURL(new Blob([content], { type: 'application/octet-stream' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = fileNameOf(name);
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), beginMs);
}
