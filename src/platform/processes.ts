import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { hostname } from 'node:os'
import { codeOf } from './database.ts'

/** A running process as "id start-time", because ids are reused. */
export function identityOf(pid: number): string | undefined {
  if (!(pid > 0) || !isThere(pid)) return undefined
  const { state, started } = lookUp(pid)
  // A zombie stays listed until its parent waits for it, which some parents never do.
  return state === 'Z' || state === 'X' ? undefined : `${pid} ${started}`
}

function isThere(pid: number) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
}

function lookUp(pid: number) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The second field is the command in parentheses and may contain spaces. The state is the third field, the start time the 22nd.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { state: fields[0], started: fields[19] }
  } catch {
    const [state = '', ...started] = ps(pid, 'stat=', 'lstart=').split(/\s+/)
    return { state: state[0], started: started.join(' ') }
  }
}

/**
 * Whether a process has this working directory, as PostgreSQL has its cluster. Without /proc: whether its command line contains the path.
 */
export function worksIn(pid: number, folder: string) {
  if (!identityOf(pid)) return false
  try {
    const [here, there] = [statSync(`/proc/${pid}/cwd`), statSync(folder)]
    return here.dev === there.dev && here.ino === there.ino
  } catch {
    return ps(pid, 'command=').includes(folder)
  }
}

/** Whether any process has its working directory in this folder: a git may have outlived its server. */
export function isWorkedIn(folder: string): boolean {
  const pids = listProcesses()
  if (!pids) return spawnSync('ps', ['-axww', '-o', 'command='], { encoding: 'utf8' }).stdout.includes(folder)
  return pids.some((pid) => {
    try {
      return `${readlinkSync(`/proc/${pid}/cwd`)}/`.startsWith(`${folder}/`)
    } catch {
      // It has ended, or belongs to another account, and our gits do not.
      return false
    }
  })
}

function listProcesses(): string[] | undefined {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  } catch {
    return undefined
  }
}

/** When this process started, by the wall clock, in milliseconds. Older files were left by other processes. */
export const processStart = Date.now() - process.uptime() * 1000

/** Identifies this process among the machines that share a database. */
export const thisServer = `${hostname()} ${identityOf(process.pid)}`

/** Whether a server on this machine has ended. False for servers on other machines, because we cannot know. */
export function hasEnded(server: string): boolean {
  const [host, pid, ...started] = server.split(' ')
  return host === hostname() && identityOf(Number(pid)) !== [pid, ...started].join(' ')
}

/** For systems without /proc. */
function ps(pid: number, ...columns: string[]) {
  const { stdout } = spawnSync('ps', ['-ww', '-p', `${pid}`, ...columns.flatMap((column) => ['-o', column])], {
    encoding: 'utf8',
  })
  return (stdout ?? '').trim()
}
