'use client';

import { Component, type ReactNode } from 'react';

export interface ResultBoundaryProps {
  /** Drawn in place of a view that failed. */
  fallback: ReactNode;
  children: ReactNode;
}

/** Keeps a view that fails from taking the card, or the list, with it. */
export class ResultBoundary extends Component<ResultBoundaryProps, { hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError() {
    return { hasFailed: true };
  }

  override render() {
    return this.state.hasFailed ? this.props.fallback : this.props.children;
  }
}
