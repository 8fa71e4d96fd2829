import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { measure, readAnswer } from './load.ts'

const connections = 32
const seconds = Number(process.env.BENCH_SECONDS ?? 2)
const rounds = 5

/** One thing measured: a request, and the share of the bare server's speed that it must reach. */
interface Case {
  name: string
  path: string
  conditional?: true
  /** As the site admin, by token. */
  token?: true
  target?: number
}

const cases: Case[] = [
  { name: 'GET {base}/', path: '/api/v3/' },
  { name: 'GET {base}/ as 304', path: '/api/v3/', conditional: true, target: 0.5 },
  { name: 'GET {base}/user by token', path: '/api/v3/user', token: true, target: 0.35 },
]

const write = (line: string) => process.stdout.write(`${line}\n`)

async function startBelfry() {
  const data = mkdtempSync(join(tmpdir(), 'belfry-bench-'))
  // As root, another account runs the database and must be able to enter; it would go elsewhere, and stay there.
  chmodSync(data, 0o711)
  const child = spawn('sh', [join(import.meta.dirname, '..', 'bin', 'belfry')], {
    env: { ...process.env, BELFRY_DATA: data, BELFRY_PORT: '0', BELFRY_VERSIONED_PORT: '0', BELFRY_LOG: 'warn' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let token = ''
  for await (const line of createInterface({ input: child.stdout })) {
    token = /^\s+Token\s+(\S+)/.exec(line)?.[1] ?? token
    const address = /^Belfry is ready: (\S+)/.exec(line)?.[1]
    if (address) return { child, data, token, port: Number(new URL(address).port) }
  }
  throw new Error('Belfry did not start')
}

async function startBare(answer: Buffer) {
  const text = answer.toString('latin1')
  const head = text.indexOf('\r\n\r\n')
  const [first = '', ...lines] = text.slice(0, head).split('\r\n')
  const headers = lines.flatMap((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)])
  const child = fork(join(import.meta.dirname, 'bare.ts'))
  child.send({ status: Number(first.split(' ')[1]), headers, body: text.slice(head + 4) })
  const [port] = (await once(child, 'message')) as [number]
  return { child, port }
}

const median = (numbers: number[]) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0

async function run() {
  const belfry = await startBelfry()
  let missed = false
  try {
    write(`${connections} connections, ${rounds} rounds of ${seconds} s each, Belfry and a bare node:http in turn\n`)
    write(`| request | Belfry/s | bare node:http/s | ratio | target |\n|---|---:|---:|---:|---:|`)
    for (const { name, path, conditional, token, target } of cases) {
      const plain = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${belfry.port}\r\nAccept: */*\r\n${token ? `Authorization: Bearer ${belfry.token}\r\n` : ''}`
      const etag = /^etag: (.*)$/im.exec((await readAnswer(belfry.port, `${plain}\r\n`)).toString('latin1'))?.[1]?.trim()
      const request = `${plain}${conditional ? `If-None-Match: ${etag}\r\n` : ''}\r\n`
      const bare = await startBare(await readAnswer(belfry.port, request))
      const ours: number[] = []
      const theirs: number[] = []
      for (let round = 0; round < rounds; round++) {
        theirs.push(await measure({ port: bare.port, request, connections, seconds }))
        ours.push(await measure({ port: belfry.port, request, connections, seconds }))
      }
      bare.child.disconnect()
      const ratio = median(ours) / median(theirs)
      missed ||= target !== undefined && ratio < target
      write(`| ${name} | ${median(ours).toFixed(0)} | ${median(theirs).toFixed(0)} | ${ratio.toFixed(2)} | ${target ?? ''} |`)
    }
    if (missed) write('\nA target is missed.')
  } finally {
    belfry.child.kill('SIGTERM')
    await once(belfry.child, 'exit')
    rmSync(belfry.data, { recursive: true, force: true })
  }
}

await run()
