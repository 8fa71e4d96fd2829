import { readdir, readFile } from 'node:fs/promises'

export interface Member {
  pid: number
  /** Processor time in hundredths of a second, with that of its ended children. */
  computed: number
}

/** The live processes of a process group, from proc(5); none on systems without it. */
export async function membersOf(group: number): Promise<Member[]> {
  const names = await readdir('/proc').catch(() => [])
  const pids = names.filter((name) => /^\d+$/.test(name))
  return (await Promise.all(pids.map((pid) => readMember(Number(pid), group)))).flat()
}

async function readMember(pid: number, group: number): Promise<Member[]> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  // The second field is the command in parentheses and may contain spaces. The state is the third, the group the fifth, times begin at the
  // 14th.
  const [state = 'X', , of, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  if (Number(of) !== group || state === 'Z' || state === 'X') return []
  return [{ pid, computed: rest.slice(8, 12).reduce((sum, ticks) => sum + Number(ticks), 0) }]
}

/** In bytes, without file-backed pages, which the system can reclaim. */
export async function memoryOf(members: Member[]): Promise<number> {
  const sizes = await Promise.all(
    members.map(async ({ pid }) => {
      const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
      return Number(/^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024
    }),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** False if the group has no processes. */
export function signalGroup(group: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(-group, signal)
  } catch {
    return false
  }
}
