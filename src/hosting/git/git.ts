import { spawn } from 'node:child_process'

/** Nothing of the machine's or the user's own git settings reaches our repositories. */
const environment = {
  PATH: process.env.PATH ?? '/usr/bin:/bin',
  LC_ALL: 'C',
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
  // The data folder may belong to another account than the one that runs us; its contents are ours all the same.
  GIT_CONFIG_COUNT: '1',
  GIT_CONFIG_KEY_0: 'safe.directory',
  GIT_CONFIG_VALUE_0: '*',
}

/** Runs git and gives what it prints; a failure carries git's own words. */
export function git(args: string[], { input }: { input?: string } = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn('git', args, { env: environment, stdio: ['pipe', 'pipe', 'pipe'] })
    const output: Buffer[] = []
    const complaint: Buffer[] = []
    child.stdout.on('data', (chunk) => output.push(chunk))
    child.stderr.on('data', (chunk) => complaint.push(chunk))
    child.once('error', reject)
    child.once('close', (status) => {
      if (status === 0) resolve(Buffer.concat(output).toString())
      else reject(new Error(`git ${args[0]} failed (${status}): ${Buffer.concat(complaint).toString().trim()}`))
    })
    // A git that ended early closes its input; its exit status tells the story.
    child.stdin.on('error', () => {})
    child.stdin.end(input ?? '')
  })
}
