import { readFileSync } from 'node:fs';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as TlsServer } from 'node:tls';
import type { Socket } from 'node:net';
import {
  CONNECTIONS_MAX,
  LATE_REQUEST_MS_MAX,
  PIPELINED_MAX,
  UNREAD_BYTES_MAX,
  UNREAD_MS_MAX,
} from '../limits.ts';
import { inMemory } from '../memory.ts';
import { networkOf } from './rate-limit.ts';

/** The unfinished answers of each open connection, the oldest connection first. */
export type Connections = Map<Socket, Set<ServerResponse>>;

const SWEEP_MS = 1000;
/** Gives the end of an answer time to reach the caller before the reset that follows if the caller keeps sending. */
const LINGER_MS = 1000;

/** The share of all connections that one address may have. */
const ADDRESS_SHARE_MAX = 0.75;
/** The embedded engine needs file descriptors, too. */
const FILES_SHARE_MAX = 0.75;

/** Connections, the oldest first; `fresh` are those that have had no answer yet. */
type Group = { all: Set<Socket>; fresh: Set<Socket> };
const createGroup = (): Group => ({ all: new Set(), fresh: new Set() });

/**
 * Tracks the open connections of a server and bounds them. At the bound, a new connection takes the place of the oldest one that was never
 * answered, or else of the oldest idle one. The bound of one address is lower than that of all.
 */
export class ConnectionTable {
  readonly connections: Connections = new Map();
  readonly #max: number;
  readonly #unreadMsMax: number;
  readonly #unreadBytesMax: number;
  /** How much of its answers a caller had read when it last read something. */
  readonly #progress = new WeakMap<Socket, { readBytes: number; atMs: number }>();
  readonly #all = createGroup();
  readonly #byNetwork = new Map<string, Group>();
  /** Begins the requests that wait after those in progress, the oldest first. */
  readonly #waiting = new WeakMap<Socket, (() => void)[]>();

  constructor(
    server: Server,
    { max = connectionsMax(), unreadMsMax = UNREAD_MS_MAX, unreadBytesMax = inMemory(UNREAD_BYTES_MAX) } = {},
  ) {
    this.#max = max;
    this.#unreadMsMax = unreadMsMax;
    this.#unreadBytesMax = unreadBytesMax;
    server.on('connection', (socket) => this.#add(socket));
    if (server instanceof TlsServer) this.#followHandshakes(server);
    const sweep = setInterval(() => this.#endUnread(), SWEEP_MS).unref();
    server.on('close', () => clearInterval(sweep));
  }

  /** A TLS connection counts from its first byte; after the handshake its TLS socket takes the place of the bare one. */
  #followHandshakes(server: TlsServer): void {
    const bare = new Map<string, Socket>();
    server.on('connection', (socket) => {
      const peer = peerOf(socket);
      handshaking.add(socket);
      bare.set(peer, socket);
      socket.on('close', () => bare.delete(peer));
    });
    server.on('secureConnection', (socket) => {
      const before = bare.get(peerOf(socket));
      if (before !== undefined) this.#forget(before, this.#groupOf(before));
      this.#add(socket);
    });
  }

  /** Calls `begin` immediately, or once few enough of the earlier requests on its connection are unanswered. */
  track(res: ServerResponse, begin: () => void): void {
    const { socket } = res.req;
    const answers = this.connections.get(socket);
    const waiting = this.#waiting.get(socket) ?? [];
    answers?.add(res);
    res.on('close', () => {
      answers?.delete(res);
      const next = waiting.shift();
      // Not in this turn of the loop, so that other connections get their turns first.
      if (next !== undefined) setImmediate(() => socket.destroyed || next());
      if (this.#all.fresh.delete(socket)) this.#groupOf(socket).fresh.delete(socket);
      // Answered before the whole request arrived; the rest may never arrive.
      if (!res.req.complete) endLater(socket, LATE_REQUEST_MS_MAX, res.req);
    });
    if (answers === undefined || answers.size <= PIPELINED_MAX) begin();
    else waiting.push(begin);
  }

  #add(socket: Socket): void {
    const group = this.#groupOf(socket);
    const hasRoom =
      this.#hasRoom(group, this.#max * ADDRESS_SHARE_MAX) && this.#hasRoom(this.#all, this.#max);
    if (!hasRoom) {
      socket.destroy();
      return;
    }
    const network = networkOf(socket.remoteAddress ?? '');
    this.#byNetwork.set(network, group);
    this.connections.set(socket, new Set());
    this.#waiting.set(socket, []);
    for (const { all, fresh } of [this.#all, group]) {
      all.add(socket);
      fresh.add(socket);
    }
    socket.on('close', () => {
      this.#forget(socket, group);
      if (group.all.size === 0) this.#byNetwork.delete(network);
    });
  }

  #groupOf(socket: Socket): Group {
    return this.#byNetwork.get(networkOf(socket.remoteAddress ?? '')) ?? createGroup();
  }

  /** Closes a connection of a full group. False if the service is working on requests of all of them. */
  #hasRoom({ all, fresh }: Group, max: number): boolean {
    if (all.size < max) return true;
    const victim = this.#oldestIdle(fresh) ?? this.#oldestIdle(all);
    if (victim === undefined) return false;
    // Its close event comes later.
    this.#forget(victim, this.#groupOf(victim));
    victim.destroy();
    return true;
  }

  #oldestIdle(sockets: Set<Socket>): Socket | undefined {
    return sockets
      .values()
      .find((socket) => [...(this.connections.get(socket) ?? [])].every((res) => !res.req.complete));
  }

  #forget(socket: Socket, group: Group): void {
    this.connections.delete(socket);
    for (const { all, fresh } of [this.#all, group]) {
      all.delete(socket);
      fresh.delete(socket);
    }
  }

  /** Answers that callers do not read stay in memory: the oldest are dropped, and beyond the bound the largest. */
  #endUnread(): void {
    const nowMs = performance.now();
    const unread: { socket: Socket; bytes: number }[] = [];
    for (const [socket, answers] of this.connections) {
      if (socket.writableLength === 0) this.#progress.delete(socket);
      else if (this.#isStalled(socket, nowMs)) socket.destroy();
      if (!socket.destroyed) unread.push({ socket, bytes: unreadBytes(socket, answers) });
    }
    let sum = unread.reduce((bytes, each) => bytes + each.bytes, 0);
    if (sum <= this.#unreadBytesMax) return;
    for (const { socket, bytes } of unread.sort((a, b) => b.bytes - a.bytes)) {
      sum -= bytes;
      socket.destroy();
      if (sum <= this.#unreadBytesMax) return;
    }
  }

  #isStalled(socket: Socket, nowMs: number): boolean {
    const readBytes = socket.bytesWritten - socket.writableLength;
    const before = this.#progress.get(socket);
    if (before?.readBytes === readBytes) return nowMs - before.atMs > this.#unreadMsMax;
    this.#progress.set(socket, { readBytes, atMs: nowMs });
    return false;
  }
}

/** Including the answers that wait for an earlier one: they have no socket yet. */
function unreadBytes(socket: Socket, answers: Set<ServerResponse>): number {
  const queued = [...answers].filter((res) => res.socket === null);
  return queued.reduce((bytes, res) => bytes + res.writableLength, socket.writableLength);
}

const handshaking = new WeakSet<Socket>();

/** Whether nothing can be written to this connection, because it is the bare one below TLS. */
export function isHandshaking(socket: Socket): boolean {
  return handshaking.has(socket);
}

/** Ends a connection after its last answer, even if the caller keeps its side open or continues to send. */
export function endConnection(socket: Socket, lastBytes: string): void {
  socket.end(lastBytes);
  endLater(socket, LINGER_MS);
}

/** With a request: unless all of it has arrived by then. */
function endLater(socket: Socket, ms: number, req?: IncomingMessage): void {
  const timer = setTimeout(() => {
    if (req?.complete !== true) socket.destroy();
  }, ms);
  (req ?? socket).on('close', () => clearTimeout(timer));
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

/** The bound of all connections of this process. */
function connectionsMax(): number {
  try {
    const files = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return files === undefined ? CONNECTIONS_MAX : Math.min(CONNECTIONS_MAX, Number(files) * FILES_SHARE_MAX);
  } catch {
    // Not on Linux.
    return CONNECTIONS_MAX;
  }
}
