// Completion for bash, zsh, fish and PowerShell: a script for the shell, which asks keystorectl for candidates (completion.ts).
import { commandFor } from './terminal/command-output.ts';
import { completionScripts } from './terminal/completion-scripts.ts';
import type { Io } from './terminal/io.ts';

/** `completion bash | zsh | fish | powershell` prints the script. */
export async function printCompletion(words: readonly string[], io: Io): Promise<void> {
  const command = commandFor(io, 'keystorectl completion').description('Print a completion script: source <(keystorectl completion bash)');
  for (const [shell, script] of Object.entries(completionScripts)) {
    command
      .command(shell)
      .description(`the script for ${shell}`)
      .exitOverride()
      .action(() => void io.stdout.write(script));
  }
  await command.parseAsync([...words], { from: 'user' });
}
