import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { dirname } from 'node:path'
import type { Duplex } from 'node:stream'
import type { Launch, Report } from './launcher.ts'

/**
 * The small process that starts programs for the server, see launcher.ts. Each standard stream of a program is a connection to the server's
 * socket, so the bytes do not pass through this process.
 */
const socket = process.argv[2] as string
// If the server was killed, `disconnect` follows.
const report = (report: Report) => process.connected && process.send?.(report, () => {})

async function openStream(id: number, fd: number) {
  const stream = connect(socket)
  await once(stream, 'connect')
  const header = Buffer.alloc(8)
  header.writeUInt32LE(id)
  header.writeUInt32LE(fd, 4)
  await new Promise<void>((resolve, reject) => stream.write(header, (error) => (error ? reject(error) : resolve())))
  return stream
}

/** A program would find our socket non-blocking, which shells cannot read from; Node changes that for the first three descriptors only. */
function relay(channel: Socket, child: ChildProcess) {
  const inner = child.stdio[3] as Duplex | undefined
  for (const stream of [channel, inner]) stream?.on('error', () => {})
  if (inner) channel.pipe(inner).pipe(channel)
  child.once('exit', () => channel.destroy())
}

async function launch({ id, file, args, cwd, env, channel }: Launch) {
  const opening = await Promise.allSettled([0, 1, 2, ...(channel ? [3] : [])].map((fd) => openStream(id, fd)))
  const streams = opening.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  const failed = opening.find((result) => result.status === 'rejected')
  try {
    if (failed) throw failed.reason
    const child = spawn(file, args, {
      cwd,
      env,
      stdio: [...streams.slice(0, 3), ...(channel ? ['pipe' as const] : [])],
      detached: true,
    })
    if (channel) relay(streams.pop() as Socket, child)
    child.once('error', ({ code, syscall, message }: NodeJS.ErrnoException) => report({ id, error: { code, syscall, message } }))
    child.once('exit', (status, signal) => report({ id, status, signal }))
    if (child.pid) report({ id, pid: child.pid })
  } catch (error) {
    const { code, syscall, message } = error as NodeJS.ErrnoException
    report({ id, error: { code, syscall, message } })
  } finally {
    for (const stream of streams) stream.destroy()
  }
}

process.on('message', launch)
// The server decides when this process ends: it still starts programs while it stops.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
process.on('disconnect', () => {
  // The server was killed, so it cannot do this itself.
  rmSync(dirname(socket), { recursive: true, force: true })
  process.exit()
})
report('ready')
