import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type pg from 'pg'

export const points = ['claimed', 'connected', 'sent', 'answered', 'recording'] as const

export interface Orders {
  connection: pg.ClientConfig
  data: string
  web: string
  point: (typeof points)[number]
  times: number
}

/** Runs a sender until it kills itself or is ended; false if it did not get to the point. */
export async function crash(orders: Orders, ending?: AbortSignal): Promise<boolean> {
  const child = fork(join(import.meta.dirname, 'sending-process.ts'))
  ending?.addEventListener('abort', () => child.kill('SIGTERM'))
  child.send(orders)
  // With nothing left to send, it never reaches the point and is ended here.
  const deadline = setTimeout(() => child.kill('SIGTERM'), 20_000)
  const [, signal] = await once(child, 'exit')
  clearTimeout(deadline)
  return signal === 'SIGKILL'
}
