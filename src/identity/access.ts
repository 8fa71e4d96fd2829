import { forbidden } from '#platform/errors.ts'
import type { Account } from './accounts.ts'

/** Levels of access, weakest first. The database stores a level's index in this list, counted from 1. */
const levels = ['pull', 'triage', 'push', 'maintain', 'admin'] as const
export type Access = (typeof levels)[number]

/** Newer names of two levels. */
const synonyms: Record<string, Access> = { read: 'pull', write: 'push' }
const roles: Record<Access, string> = { pull: 'read', triage: 'triage', push: 'write', maintain: 'maintain', admin: 'admin' }

export const accessNames = [...levels, ...Object.keys(synonyms)]

/** The level of a name in either form. */
export function levelOf(name: string): number {
  return levels.indexOf((synonyms[name] ?? name) as Access) + 1
}

export function nameOf(level: number): string {
  return levels[level - 1] ?? 'none'
}

/** The role name of a level: `read`, `triage`, `write`, `maintain`, `admin`, or `none`. */
export function roleOf(level: number): string {
  const name = levels[level - 1]
  return name ? roles[name] : 'none'
}

/** The four permission names of the older API. */
export function permissionOf(level: number): 'none' | 'read' | 'write' | 'admin' {
  return level >= 5 ? 'admin' : level >= 3 ? 'write' : level >= 1 ? 'read' : 'none'
}

export function permissionsOf(level: number) {
  return { admin: level >= 5, maintain: level >= 4, push: level >= 3, triage: level >= 2, pull: level >= 1 }
}

export function checkAccess(level: number, needed: Access) {
  if (level >= levelOf(needed)) return
  throw forbidden(needed === 'admin' ? 'Must have admin rights to Repository.' : `Must have ${needed} access to Repository.`)
}

/** Nothing of a suspended organization can be changed. A suspended user cannot sign in, so there is nothing to check. */
export function checkNotSuspended({ type, login, suspended_at }: Pick<Account, 'type' | 'login' | 'suspended_at'>) {
  if (type === 'Organization' && suspended_at)
    throw forbidden(
      `The organization ${login} is suspended, so it is read-only. Ask the operator of this server to reactivate it.`,
    )
}

interface Changed {
  archived: boolean
  owner_suspended?: boolean
}

export function checkWritable({ archived, owner_suspended = false }: Changed) {
  if (owner_suspended) throw ownerSuspended()
  if (archived) throw forbidden('Repository was archived so is read-only.')
}

export const ownerSuspended = () =>
  forbidden('The organization is suspended, so its repositories are read-only. Ask the operator of this server to reactivate it.')
