"""The Senses: conversion of texts to a graph."""
