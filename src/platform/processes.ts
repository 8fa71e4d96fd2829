import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { hostname } from 'node:os'
import { codeOf } from './database.ts'

/** A running process as "id start-time": an id alone may belong to somebody else by now. */
export function identityOf(pid: number): string | undefined {
  if (!(pid > 0) || !isThere(pid)) return undefined
  const { state, started } = lookUp(pid)
  // One that has ended stays listed until its parent asks for its fate, which some parents never do.
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
    // The second field is the command in parentheses and may hold spaces; the state is the third, the start time the 22nd.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { state: fields[0], started: fields[19] }
  } catch {
    const [state = '', ...started] = ps(pid, 'stat=', 'lstart=').split(/\s+/)
    return { state: state[0], started: started.join(' ') }
  }
}

/** Whether a process works in this folder (as PostgreSQL does in its cluster), or at least was started with its name. */
export function worksIn(pid: number, folder: string) {
  if (!identityOf(pid)) return false
  try {
    const [here, there] = [statSync(`/proc/${pid}/cwd`), statSync(folder)]
    return here.dev === there.dev && here.ino === there.ino
  } catch {
    return ps(pid, 'command=').includes(folder)
  }
}

/** Whether any process works in this folder or below it, or was started with its name: a git that outlived its server may. */
export function isWorkedIn(folder: string): boolean {
  const pids = listProcesses()
  if (!pids) return spawnSync('ps', ['-axww', '-o', 'command='], { encoding: 'utf8' }).stdout.includes(folder)
  return pids.some((pid) => {
    try {
      return `${readlinkSync(`/proc/${pid}/cwd`)}/`.startsWith(`${folder}/`)
    } catch {
      // It has ended, or belongs to another account, as no git of ours does.
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

/** When this process began, by the clock of file systems: older files were left by other processes. In milliseconds. */
export const processStart = Date.now() - process.uptime() * 1000

/** This process, among those of all machines that share a database. */
export const thisServer = `${hostname()} ${identityOf(process.pid)}`

/** Whether a server of this machine has ended. False for servers of other machines, because we cannot know. */
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
