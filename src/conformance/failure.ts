import { StartError } from '#platform/errors.ts'

/** Why no check can be made at all. */
export class Failure extends StartError {}
