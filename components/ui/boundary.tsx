'use client';

import { Component, type ReactNode } from 'react';

export interface BoundaryProps {
  /** What the children draw. Another value is tried anew. */
  of: unknown;
  /** Drawn in place of children that failed. It must not read what they failed at. */
  fallback: ReactNode;
  children: ReactNode;
}

interface BoundaryState {
  readonly of: unknown;
  readonly hasFailed: boolean;
}

/** Keeps a part that fails from taking its neighbours, or the page, with it. */
export class Boundary extends Component<BoundaryProps, BoundaryState> {
  override state: BoundaryState = { of: this.props.of, hasFailed: false };

  static getDerivedStateFromError(): Partial<BoundaryState> {
    return { hasFailed: true };
  }

  static getDerivedStateFromProps(props: BoundaryProps, state: BoundaryState) {
    return Object.is(props.of, state.of) ? null : { of: props.of, hasFailed: false };
  }

  override render() {
    return this.state.hasFailed ? this.props.fallback : this.props.children;
  }
}
