// Notices the end of the process that started the appliance: an npm or a set-up that was killed could not pass on a signal.

const lookMs = 250;

/** Calls `ended` once: when the channel to the launcher closes, or the launcher that `KEYSTORED_LAUNCHER` names is no longer the parent. */
export function watchLauncher(ended: () => void): void {
  process.once('disconnect', ended);
  const launcher = process.env['KEYSTORED_LAUNCHER'];
  if (launcher === undefined) return;
  // Children must not watch the parent of this process.
  delete process.env['KEYSTORED_LAUNCHER'];
  const look = setInterval(() => {
    if (String(process.ppid) === launcher) return;
    clearInterval(look);
    ended();
  }, lookMs);
  look.unref();
}
