import { readdir, readFile } from 'node:fs/promises'

export interface Member {
  pid: number
  /** How long it has computed by now, with those of its children that have ended; in hundredths of a second. */
  computed: number
}

/** The living processes of a process group; none where the system does not tell, see proc(5). */
export async function membersOf(group: number): Promise<Member[]> {
  const names = await readdir('/proc').catch(() => [])
  const pids = names.filter((name) => /^\d+$/.test(name))
  return (await Promise.all(pids.map((pid) => readMember(Number(pid), group)))).flat()
}

async function readMember(pid: number, group: number): Promise<Member[]> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  // The second field is the command in parentheses and may hold spaces; the state is the third, the group the fifth, times from the 14th on.
  const [state = 'X', , of, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  if (Number(of) !== group || state === 'Z' || state === 'X') return []
  return [{ pid, computed: rest.slice(8, 12).reduce((sum, ticks) => sum + Number(ticks), 0) }]
}

/** In bytes. Pages of files are not counted: the system takes those back when it needs them. */
export async function memoryOf(members: Member[]): Promise<number> {
  const sizes = await Promise.all(
    members.map(async ({ pid }) => {
      const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
      return Number(/^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024
    }),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** False when nobody is left in it. */
export function signalGroup(group: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(-group, signal)
  } catch {
    return false
  }
}
