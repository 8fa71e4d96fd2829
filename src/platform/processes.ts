import { spawnSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
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

/** For systems without /proc. */
function ps(pid: number, ...columns: string[]) {
  const { stdout } = spawnSync('ps', ['-ww', '-p', `${pid}`, ...columns.flatMap((column) => ['-o', column])], {
    encoding: 'utf8',
  })
  return (stdout ?? '').trim()
}
