import type { FastifyReply, FastifyRequest } from 'fastify'
import { readCookie, writeCookie } from './cookies.ts'

/** How a browser shows the site. Kept in a cookie, because it also applies before somebody signs in. */
export interface Preferences {
  color: 'auto' | 'light' | 'dark'
  /** Whether single keys act. */
  keys: 'on' | 'off'
}

const cookie = 'belfry_preferences'
const colors = ['auto', 'light', 'dark'] as const
const year = 365 * 86_400

export function readPreferences(request: FastifyRequest): Preferences {
  const [color, keys] = (readCookie(request, cookie) ?? '').split('.')
  return { color: colors.find((one) => one === color) ?? 'auto', keys: keys === 'off' ? 'off' : 'on' }
}

export function writePreferences(reply: FastifyReply, { color, keys }: Preferences, secure: boolean) {
  writeCookie(reply, cookie, `${color}.${keys}`, { max_age: year, secure })
}
