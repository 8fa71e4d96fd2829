import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { pino } from 'pino'
import { Agent, request } from 'undici'
import { systemClock } from '#platform/clock.ts'
import { Database } from '#platform/database.ts'
import { startEmbeddedPostgres } from '#platform/embedded-postgres.ts'
import { migrate } from '#platform/migrate.ts'

/** A data folder of the benchmark's own, gone when it is over. */
export function makeFolder(): Disposable & { path: string } {
  const path = mkdtempSync(join(tmpdir(), 'belfry-bench-'))
  // As root, another account runs the database and must be able to enter; it would go elsewhere, and stay there.
  chmodSync(path, 0o711)
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}

/** The folder's database, while no Belfry has it. */
export async function withDatabase(folder: string, work: (db: Database) => Promise<void>) {
  const postgres = await startEmbeddedPostgres(folder, pino({ level: 'silent' }), {})
  const db = new Database(postgres.connection, systemClock)
  await migrate(db)
  // Seeding takes longer than a request may.
  await db.withBackgroundTimeouts(() => work(db))
  await db[Symbol.asyncDispose]()
  await postgres.stop()
}

export interface RunningBelfry extends AsyncDisposable {
  port: number
  token: string
  /** Of the server's process. */
  pid: number
  /** What it printed before it was ready. */
  screen: string
}

const token = `bfp_${'b'.repeat(36)}`

export async function startBelfry(
  folder: string,
  settings: Record<string, string> = {},
  options: string[] = [],
  program = join(import.meta.dirname, '..', 'bin', 'belfry'),
): Promise<RunningBelfry> {
  const child = spawn('sh', [program, ...options], {
    env: {
      ...process.env,
      BELFRY_DATA: folder,
      BELFRY_PORT: '0',
      BELFRY_VERSIONED_PORT: '0',
      BELFRY_LOG: 'warn',
      BELFRY_ADMIN_TOKEN: token,
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let screen = ''
  for await (const line of createInterface({ input: child.stdout })) {
    screen += `${line}\n`
    const address = /^Belfry is ready: (\S+)/.exec(line)?.[1]
    if (!address) continue
    child.stdout.resume()
    return {
      port: Number(new URL(address).port),
      token,
      pid: child.pid ?? 0,
      screen,
      async [Symbol.asyncDispose]() {
        child.kill('SIGTERM')
        await once(child, 'exit')
      },
    }
  }
  throw new Error('Belfry did not start')
}

/** The limit: a bare node:http that sends exactly this answer. */
export async function startBare(answer: Buffer): Promise<Disposable & { port: number }> {
  const text = answer.toString('latin1')
  const head = text.indexOf('\r\n\r\n')
  const [first = '', ...lines] = text.slice(0, head).split('\r\n')
  const headers = lines.flatMap((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)])
  const child = fork(join(import.meta.dirname, 'bare.ts'))
  child.send({ status: Number(first.split(' ')[1]), headers, body: text.slice(head + 4) })
  const [port] = (await once(child, 'message')) as [number]
  return { port, [Symbol.dispose]: () => child.disconnect() }
}

const agent = new Agent({ connections: 50 })

/** Asks the interface; an answer that is no success is an error. */
export async function call(
  belfry: RunningBelfry,
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: string,
  token: string,
  body?: object,
) {
  const answer = await request(`http://127.0.0.1:${belfry.port}/api/v3${path}`, {
    ...{ dispatcher: agent, method },
    headers: { authorization: `Bearer ${token}` },
    body: body ? JSON.stringify(body) : null,
  })
  const text = await answer.body.text()
  if (answer.statusCode >= 300) throw new Error(`${method} ${path} gave ${answer.statusCode}: ${text}`)
  return text ? JSON.parse(text) : undefined
}
