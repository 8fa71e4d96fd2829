import { forbidden } from '#platform/errors.ts'

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

export function checkWritable({ archived }: { archived: boolean }) {
  if (archived) throw forbidden('Repository was archived so is read-only.')
}
