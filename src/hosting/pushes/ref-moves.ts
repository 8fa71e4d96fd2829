import { noObject } from '#git/objects.ts'
import type { Command } from '#git/storage.ts'

/** A push that has begun and is not yet recorded. */
export interface OpenPush {
  id: number
  pusher_id: number
  commands: Command[]
  /** Git has ended, so the push moves no more refs. */
  over: boolean
}

/** A ref that moved, and the push that moved it. */
export interface Move extends Command {
  push: OpenPush
  /** The command that requested the move; undefined if no command did. */
  command: Command | undefined
}

interface Candidate {
  push: OpenPush
  command: Command
}

/** Finds the moves that lead from the recorded refs to those on disk, in order. */
export function findMoves(pushes: OpenPush[], known: Map<string, string>, disk: Map<string, string>, names: string[]): Move[] {
  // If two pushes requested the same move, an ended push did it; otherwise the later one, because the earlier may have been interrupted.
  const ordered = pushes.toSorted((a, b) => Number(b.over) - Number(a.over) || b.id - a.id)
  const candidates = new Map<string, Candidate[]>(names.map((name) => [name, []]))
  for (const push of ordered) for (const command of push.commands) candidates.get(command.ref)?.push({ push, command })
  const chains = names.map((name) =>
    findChain(candidates.get(name) ?? [], known.get(name) ?? noObject, disk.get(name) ?? noObject, name),
  )
  // First moves before second ones, and moves of a push in the order of its commands.
  const longest = chains.reduce((most, { length }) => Math.max(most, length), 0)
  return Array.from({ length: longest }, (_, place) =>
    chains.flatMap((chain) => chain[place] ?? []).sort((a, b) => a.push.id - b.push.id),
  ).flat()
}

function findChain(candidates: Candidate[], from: string, to: string, ref: string): Move[] {
  if (from === to) return []
  const steps = walk(candidates, from, to)
  if (steps) return steps.map(({ push, command }) => ({ ...command, push, command }))
  // The ref did not start where the log has it: the push that arrived includes the missing moves.
  const arrived = candidates.find(({ command }) => command.after === to)
  if (arrived) return [{ ref, before: from, after: to, ...arrived }]
  // A hook may have moved the ref during a push.
  const over = candidates.find(({ push, command }) => push.over && command.before !== to)
  return over ? [{ ref, before: from, after: to, push: over.push, command: undefined }] : []
}

/** The shortest chain of commands from one value to another. */
function walk(candidates: Candidate[], from: string, to: string): Candidate[] | undefined {
  const cameBy = new Map<string, Candidate>()
  const reached = [from]
  for (const value of reached) {
    for (const candidate of candidates) {
      const { before, after } = candidate.command
      if (before !== value || after === from || cameBy.has(after)) continue
      cameBy.set(after, candidate)
      reached.push(after)
    }
  }
  const steps: Candidate[] = []
  for (let value = to; value !== from; ) {
    const step = cameBy.get(value)
    if (!step) return undefined
    steps.unshift(step)
    value = step.command.before
  }
  return steps
}
