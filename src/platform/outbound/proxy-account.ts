import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

/** The account of a server on loopback, because other users of the machine can reach it too. */
export interface ProxyAccount {
  username: string
  password: string
}

export function makeAccount(): ProxyAccount {
  return { username: 'belfry', password: randomBytes(24).toString('base64url') }
}

export function openPasswordCheck({ username, password }: ProxyAccount, header: 'authorization' | 'proxy-authorization') {
  const expected = Buffer.from(`Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`)
  return ({ headers }: IncomingMessage) => {
    const given = Buffer.from(headers[header] ?? '')
    return given.length === expected.length && timingSafeEqual(given, expected)
  }
}
