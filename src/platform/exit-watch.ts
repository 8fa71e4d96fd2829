import { spawn } from 'node:child_process'
import { asAccount, type PostgresAccount } from './postgres-location.ts'

/** A signal to our process group, or to all processes of a service, must not end it before us. */
const waiting = `trap '' HUP INT TERM; read -r _ ||`

/**
 * Runs a command of the shell when this process is gone, also after SIGKILL. Arguments are `$1`, `$2` and so on. Returns a function that
 * cancels it.
 *
 * A shell waits for the end of a pipe whose other end only we have. It takes 0.3 MB; PostgreSQL cannot wait itself, and Linux's own signal
 * (PR_SET_PDEATHSIG) cannot be set from Node.
 */
export function watchExit(command: string, args: string[], account?: PostgresAccount): () => void {
  const shell = spawn('sh', ['-c', `${waiting} { ${command}; }`, 'sh', ...args], {
    ...asAccount(account),
    env: { PATH: process.env.PATH },
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  // Without a free process or file descriptor there is no watch.
  shell.on('error', () => {})
  shell.stdin?.on('error', () => {})
  shell.unref()
  ;(shell.stdin as unknown as { unref(): void } | null)?.unref()
  return () => shell.stdin?.end('\n')
}

/** Removes a temporary folder when this process is gone. Retries, because programs that write to it need a moment to end. */
export const removeAfterExit = (folder: string) =>
  watchExit('for _ in 1 2 3 4 5; do sleep 1; rm -rf -- "$1" && break; done', [folder])
