// Needs of a shell before the commands of a page: the CA of the appliance as a file.
import type { ComponentChildren } from 'preact';
import { caAddress, caFile } from './commands.ts';

export function SaveCa(): ComponentChildren {
  return (
    <a href={caAddress} download={caFile} data-server="">
      {caFile}
    </a>
  );
}
