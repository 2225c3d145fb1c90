"""Embedding models: conversion of texts to vectors."""
